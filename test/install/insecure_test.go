package install

import (
	"crypto/tls"
	"net/http"
)

// insecure talks to servers that make their certificate themselves.
var insecure = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate is made by the process at its start
}}

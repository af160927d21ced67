package operator

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/rollcall-dev/rollcall/internal/access"
)

// metricsFlags say where metrics are served, and to whom.
type metricsFlags struct {
	address  string
	isSecure bool
	certFile string
	keyFile  string
}

func (m *metricsFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&m.address, "metrics-bind-address", ":8080",
		"Address at which metrics are served under /metrics. \"0\" serves none.")
	flags.BoolVar(&m.isSecure, "metrics-secure", true,
		"Serve metrics by HTTPS, and only to those whom the cluster's RBAC lets get the URL /metrics. With =false they are served by HTTP to everybody.")
	flags.StringVar(&m.certFile, "metrics-tls-cert-file", "",
		"Certificate to serve metrics with, in PEM form; read again when it changes. Without it, the process makes one of its own at every start.")
	flags.StringVar(&m.keyFile, "metrics-tls-private-key-file", "",
		"Key of that certificate, in PEM form.")
}

// options checks the flags and returns what the metrics server needs. A file that is missing is an error here because the
// server would make a certificate of its own instead, and say nothing.
func (m *metricsFlags) options() (metricsserver.Options, error) {
	options := metricsserver.Options{BindAddress: m.address}
	if !m.isSecure || m.address == "0" {
		return options, nil
	}
	options.SecureServing = true
	options.FilterProvider = access.NewFilter
	// Nobody scrapes by HTTP/2, and what nobody needs can't be attacked.
	options.TLSOpts = []func(*tls.Config){func(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }}
	if m.certFile == "" && m.keyFile == "" {
		return options, nil
	}
	if m.certFile == "" || m.keyFile == "" {
		return options, errors.New("--metrics-tls-cert-file and --metrics-tls-private-key-file need each other: set both or neither")
	}
	var err error
	if options.CertName, err = absolute("--metrics-tls-cert-file", m.certFile); err != nil {
		return options, err
	}
	if options.KeyName, err = absolute("--metrics-tls-private-key-file", m.keyFile); err != nil {
		return options, err
	}
	options.CertDir = string(filepath.Separator)
	return options, nil
}

// absolute returns the path of a file that a flag names and that must be there.
func absolute(flag, path string) (string, error) {
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", flag, err)
	}
	return path, nil
}

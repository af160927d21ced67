package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestMetricsFlags(t *testing.T) {
	here := filepath.Join(t.TempDir(), "here")
	if err := os.WriteFile(here, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cert, key := "--metrics-tls-cert-file=", "--metrics-tls-private-key-file="
	tests := map[string]struct {
		args       []string
		wantSecure bool
		wantErr    string
	}{
		"secure by default":         {nil, true, ""},
		"plain":                     {[]string{"--metrics-secure=false"}, false, ""},
		"none":                      {[]string{"--metrics-bind-address=0"}, false, ""},
		"a certificate":             {[]string{cert + here, key + here}, true, ""},
		"a certificate with no key": {[]string{cert + here}, true, "set both or neither"},
		"a key with no certificate": {[]string{key + here}, true, "set both or neither"},
		"a missing certificate":     {[]string{cert + here + "-not", key + here}, true, "--metrics-tls-cert-file: stat"},
		"a missing key":             {[]string{cert + here, key + here + "-not"}, true, "--metrics-tls-private-key-file: stat"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var m metricsFlags
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			m.add(flags)
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			options, err := m.options()
			switch {
			case test.wantErr == "" && err != nil:
				t.Fatal(err)
			case test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)):
				t.Errorf("error %v, want one with %q", err, test.wantErr)
			}
			if options.SecureServing != test.wantSecure || (options.FilterProvider != nil) != test.wantSecure {
				t.Errorf("secure is %v, a filter there %v, want both %v", options.SecureServing, options.FilterProvider != nil, test.wantSecure)
			}
		})
	}
}

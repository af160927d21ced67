package operator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/rollcall-dev/rollcall/internal/certificate"
)

// shortestLifetime is for tests; anything shorter would be renewed without a pause.
const shortestLifetime = 10 * time.Second

// certificateFlags say where the webhook's certificate comes from.
type certificateFlags struct {
	certFile, keyFile string
	managed           bool
	secret            string
	namespace         string
	configurations    string
	hosts             []string
	lifetime          time.Duration
}

func (f *certificateFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.certFile, "tls-cert-file", "/etc/rollcall/webhook/tls.crt", "Certificate to serve with, in PEM form.")
	flags.StringVar(&f.keyFile, "tls-private-key-file", "/etc/rollcall/webhook/tls.key", "Key of the certificate, in PEM form.")
	flags.BoolVar(&f.managed, "manage-certificate", false,
		"Issue the certificate, renew it in time and have the API server trust it, instead of reading it from files.")
	flags.StringVar(&f.secret, "certificate-secret", "rollcall-webhook-certificate",
		"Secret that holds the managed certificate, for all replicas. It must exist, if only empty.")
	flags.StringVar(&f.namespace, "certificate-namespace", "",
		"Namespace of the secret. In a cluster it is the pod's own by default; outside of one it must be given.")
	flags.StringVar(&f.configurations, "webhook-configuration", "rollcall",
		"Name of the mutating and the validating webhook configuration that the authority is written into.")
	flags.StringSliceVar(&f.hosts, "certificate-hosts", nil,
		"Names and addresses under which the API server calls the webhook. The service rollcall-webhook by default.")
	flags.DurationVar(&f.lifetime, "certificate-lifetime", 90*24*time.Hour,
		"How long a managed certificate is good. It is renewed when a third of that is left.")
}

// certificateSource has the certificate to serve, at any time, and keeps it fresh while it runs.
type certificateSource interface {
	manager.Runnable
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
}

// check refuses flags that can't work, before anything is started.
func (f *certificateFlags) check() error {
	if !f.managed {
		return nil
	}
	if f.lifetime < shortestLifetime {
		return fmt.Errorf("--certificate-lifetime is %s, but must be %s or more", f.lifetime, shortestLifetime)
	}
	if f.namespace == "" {
		own, err := os.ReadFile(inClusterNamespace)
		if err != nil {
			return errors.New("outside of a cluster, a managed certificate needs a namespace: set --certificate-namespace")
		}
		f.namespace = strings.TrimSpace(string(own))
	}
	if len(f.hosts) == 0 {
		f.hosts = []string{"rollcall-webhook." + f.namespace + ".svc"}
	}
	return nil
}

// newSource returns the source that the flags ask for, with a certificate at hand.
func (f *certificateFlags) newSource(ctx context.Context, config *rest.Config) (certificateSource, error) {
	if !f.managed {
		watcher, err := certwatcher.New(f.certFile, f.keyFile)
		if err != nil {
			return nil, fmt.Errorf("reading --tls-cert-file and --tls-private-key-file (or set --manage-certificate): %w", err)
		}
		return watcher, nil
	}
	direct, err := client.New(config, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s for the certificate: %w", config.Host, err)
	}
	keeper := certificate.New(certificate.Options{
		Client:         direct,
		Secret:         types.NamespacedName{Namespace: f.namespace, Name: f.secret},
		Configurations: f.configurations,
		Hosts:          f.hosts,
		Lifetime:       f.lifetime,
	})
	return keeper, keeper.Obtain(ctx)
}

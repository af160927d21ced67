package operator

import (
	"context"
	"crypto/tls"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/rollcall-dev/rollcall/internal/certificate"
	"github.com/rollcall-dev/rollcall/internal/webhook"
)

// webhookProcess is the webhook with its own flags.
type webhookProcess struct {
	process
	certificateFlags
	host string
	port int
}

func newWebhookCommand() *cobra.Command {
	var p webhookProcess
	command := &cobra.Command{
		Use:   "webhook",
		Short: "Serve the admission webhook",
		Long: "Serve the admission webhook for StatefulSets of apps.rollcall.dev: it applies the feature gates and has the\n" +
			"cluster check pod templates. Everything else holds without it.\n\n" +
			"Its certificate comes from files, which are read again when they change, or with --manage-certificate is issued\n" +
			"and renewed by the webhook itself.",
		Example: "  # With a certificate that somebody else keeps, cert-manager for example\n" +
			"  rollcall webhook --tls-cert-file=tls.crt --tls-private-key-file=tls.key\n\n" +
			"  # With a certificate of its own, trusted through the webhook configurations called rollcall\n" +
			"  rollcall webhook --manage-certificate --certificate-hosts=rollcall-webhook.rollcall-system.svc",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return p.run(command.Context()) },
	}
	flags := command.Flags()
	p.process.addFlags(flags)
	p.certificateFlags.addFlags(flags)
	flags.StringVar(&p.host, "bind-host", "", "Address to listen at for admission requests; all addresses by default.")
	flags.IntVar(&p.port, "port", 9443, "Port to listen at for admission requests.")
	return command
}

func (p *webhookProcess) run(ctx context.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	config, err := p.connect()
	if err != nil {
		return err
	}
	source, err := p.newSource(ctx, config)
	if err != nil {
		return err
	}
	mgr, err := p.newWebhookManager(config, source)
	if err != nil {
		return err
	}
	if err := webhook.Register(mgr.GetWebhookServer(), p.features.Gates(), config); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("serving the webhook: %w", err)
	}
	return nil
}

// newWebhookManager returns a process that serves with the certificate of the source and tells when it expires.
func (p *webhookProcess) newWebhookManager(config *rest.Config, source certificateSource) (manager.Manager, error) {
	server := ctrlwebhook.NewServer(ctrlwebhook.Options{
		Host: p.host, Port: p.port,
		TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.GetCertificate = source.GetCertificate }},
	})
	mgr, err := p.newManager(config, manager.Options{WebhookServer: server})
	if err != nil {
		return nil, err
	}
	if err := mgr.Add(source); err != nil {
		return nil, fmt.Errorf("adding the certificate's keeper: %w", err)
	}
	if err := metrics.Registry.Register(certificate.NewExpiryCollector(source.GetCertificate)); err != nil {
		return nil, fmt.Errorf("registering the metric of the certificate's expiry: %w", err)
	}
	return mgr, addReadiness(mgr, server, source)
}

// addReadiness makes the process ready when it serves, with a certificate that the API server trusts as far as we know.
func addReadiness(mgr manager.Manager, server ctrlwebhook.Server, source certificateSource) error {
	checks := map[string]healthz.Checker{"webhook": server.StartedChecker()}
	if keeper, isOurs := source.(*certificate.Keeper); isOurs {
		checks["certificate"] = keeper.Check
	}
	for name, check := range checks {
		if err := mgr.AddReadyzCheck(name, check); err != nil {
			return fmt.Errorf("adding the readiness check %s: %w", name, err)
		}
	}
	return nil
}

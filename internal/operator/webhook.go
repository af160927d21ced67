package operator

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/rollcall-dev/rollcall/internal/webhook"
)

// webhookProcess is the webhook with its own flags.
type webhookProcess struct {
	process
	host     string
	port     int
	certFile string
	keyFile  string
}

func newWebhookCommand() *cobra.Command {
	var p webhookProcess
	command := &cobra.Command{
		Use:   "webhook",
		Short: "Serve the admission webhook",
		Long: "Serve the admission webhook for StatefulSets of apps.rollcall.dev: it applies the feature gates and has the\n" +
			"cluster check pod templates. Everything else holds without it. Certificate and key are read again when their\n" +
			"files change.",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return p.run(command.Context()) },
	}
	flags := command.Flags()
	p.addFlags(flags)
	flags.StringVar(&p.host, "bind-host", "", "Address to listen at for admission requests; all addresses by default.")
	flags.IntVar(&p.port, "port", 9443, "Port to listen at for admission requests.")
	flags.StringVar(&p.certFile, "tls-cert-file", "/etc/rollcall/webhook/tls.crt", "Certificate to serve with, in PEM form.")
	flags.StringVar(&p.keyFile, "tls-private-key-file", "/etc/rollcall/webhook/tls.key", "Key of the certificate, in PEM form.")
	return command
}

func (p *webhookProcess) run(ctx context.Context) error {
	config, err := p.connect()
	if err != nil {
		return err
	}
	server, err := p.newServer()
	if err != nil {
		return err
	}
	mgr, err := p.newManager(config, manager.Options{WebhookServer: server})
	if err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("webhook", server.StartedChecker()); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	if err := webhook.Register(mgr.GetWebhookServer(), p.features.Gates(), config); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("serving the webhook: %w", err)
	}
	return nil
}

// newServer returns a TLS server whose certificate is watched. The paths are made absolute because the server looks for
// both files below one folder.
func (p *webhookProcess) newServer() (ctrlwebhook.Server, error) {
	cert, err := filepath.Abs(p.certFile)
	if err != nil {
		return nil, fmt.Errorf("resolving --tls-cert-file: %w", err)
	}
	key, err := filepath.Abs(p.keyFile)
	if err != nil {
		return nil, fmt.Errorf("resolving --tls-private-key-file: %w", err)
	}
	return ctrlwebhook.NewServer(ctrlwebhook.Options{
		Host: p.host, Port: p.port, CertDir: string(filepath.Separator), CertName: cert, KeyName: key,
	}), nil
}

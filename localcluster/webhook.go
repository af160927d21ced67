package localcluster

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-dev/rollcall/localcluster/leash"
)

// webhookUser is who the admission webhook is to the API server: its service account.
const webhookUser = "system:serviceaccount:rollcall-system:rollcall-webhook"

// webhook is Rollcall's admission webhook. It is ready when the API server has been told where it is.
func (c *Cluster) webhook() component {
	return component{
		name: "webhook",
		command: func() (*exec.Cmd, error) {
			return program(leash.Program, c.options.Operator, "webhook",
				"--kubeconfig="+c.layout.UserKubeconfig("webhook"),
				"--bind-host="+loopback, "--port="+c.ports.webhook,
				"--tls-cert-file="+c.layout.Cert("server"), "--tls-private-key-file="+c.layout.Key("server"),
				"--metrics-bind-address=0",
				"--health-probe-bind-address="+net.JoinHostPort(loopback, c.ports.webhookProbes))
		},
		ready: func(ctx context.Context) error {
			if err := c.probe(ctx, c.ports.webhookProbes); err != nil {
				return err
			}
			return c.registerWebhook(ctx)
		},
	}
}

// registerWebhook applies the shipped configuration with the address of the process in place of that of a service.
func (c *Cluster) registerWebhook(ctx context.Context) error {
	shipped, err := os.ReadFile(c.options.Webhook)
	if err != nil {
		return fmt.Errorf("reading the webhook's configuration: %w", err)
	}
	root, err := os.ReadFile(c.layout.Cert(caName))
	if err != nil {
		return err
	}
	var local bytes.Buffer
	for _, document := range bytes.Split(shipped, []byte("\n---\n")) {
		redirected, err := redirect(document, url(c.ports.webhook), root)
		if err != nil {
			return fmt.Errorf("reading %s: %w", c.options.Webhook, err)
		}
		fmt.Fprintf(&local, "%s\n---\n", redirected)
	}
	return c.apply(ctx, "-", local.Bytes())
}

// redirect makes a webhook configuration point to a server by its address.
func redirect(document []byte, server string, root []byte) ([]byte, error) {
	var configuration unstructured.Unstructured
	if err := yaml.Unmarshal(document, &configuration.Object); err != nil {
		return nil, err
	}
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return nil, err
	}
	for _, webhook := range webhooks {
		hook, _ := webhook.(map[string]any)
		path, _, err := unstructured.NestedString(hook, "clientConfig", "service", "path")
		if err != nil {
			return nil, err
		}
		hook["clientConfig"] = map[string]any{"url": server + path, "caBundle": base64.StdEncoding.EncodeToString(root)}
	}
	if err := unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks"); err != nil {
		return nil, err
	}
	return yaml.Marshal(configuration.Object)
}

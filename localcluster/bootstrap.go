package localcluster

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
)

// nodesUser is who the simulated nodes are to the API server, all of them at once.
const nodesUser = "rollcall:nodes"

// objects are what a fresh cluster needs before pods can run: a default storage class and the nodes' role.
//
//go:embed bootstrap.yaml
var objects []byte

// bootstrap applies the built-in objects and the given folders, each time anew: a newer CRD replaces an older one.
func (c *Cluster) bootstrap(ctx context.Context) error {
	if err := c.apply(ctx, "-", objects); err != nil {
		return err
	}
	for _, folder := range c.options.Install {
		if err := c.apply(ctx, folder, nil); err != nil {
			return err
		}
	}
	if c.options.Operator == "" {
		return nil
	}
	api := c.running[len(c.running)-1]
	return api.await(ctx, c.healthy(c.ports.apiserver, "/apis/apps.rollcall.dev/v1"))
}

// apply applies manifests: a file, a folder, or with "-" the given text.
func (c *Cluster) apply(ctx context.Context, from string, text []byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, self)
	command.Args = []string{
		"kubectl", "--kubeconfig=" + c.layout.Kubeconfig(),
		"apply", "--server-side", "--force-conflicts", "--field-manager=rollcall-local", "--filename=" + from,
	}
	command.Stdin = bytes.NewReader(text)
	output, err := command.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("applying %s: %w: %s", from, err, bytes.TrimSpace(output))
	}
	return nil
}

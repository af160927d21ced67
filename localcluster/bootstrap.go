package localcluster

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// nodesUser is who the simulated nodes are to the API server, all of them at once.
const nodesUser = "rollcall:nodes"

// objects are what a fresh cluster needs before pods can run: a default storage class and the nodes' role.
//
//go:embed bootstrap.yaml
var objects []byte

// bootstrap applies the built-in objects and the given folders, each time anew: a newer CRD replaces an older one.
func (c *Cluster) bootstrap(ctx context.Context) error {
	for _, from := range append([]string{"-"}, c.options.Install...) {
		if err := c.apply(ctx, "--filename="+from); err != nil {
			return err
		}
	}
	if c.options.Operator == "" {
		return nil
	}
	api := c.running[len(c.running)-1]
	return api.await(ctx, c.healthy(c.ports.apiserver, "/apis/apps.rollcall.dev/v1"))
}

func (c *Cluster) apply(ctx context.Context, from string) error {
	return c.kubectl(ctx, "apply", "--server-side", "--force-conflicts", "--field-manager=rollcall-local", from)
}

// kubectl runs a short command to its end and makes its last words the error.
func (c *Cluster) kubectl(ctx context.Context, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, self)
	command.Args = append([]string{"kubectl", "--kubeconfig=" + c.layout.Kubeconfig()}, args...)
	command.Stdin = bytes.NewReader(objects)
	output, err := command.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(output))
	}
	return nil
}

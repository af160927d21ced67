package localcluster

import (
	"context"
	"net"
	"net/http"
	"os/exec"

	"github.com/rollcall-dev/rollcall/localcluster/leash"
)

// operatorUser is who the operator is to the API server: its service account, with the rules of config/rbac.
const operatorUser = "system:serviceaccount:rollcall-system:rollcall-controller"

// operator is Rollcall itself, which is ready when it has read the cluster and may act.
func (c *Cluster) operator() component {
	return component{
		name: "operator",
		command: func() (*exec.Cmd, error) {
			return program(leash.Program, c.options.Operator, "controller",
				"--kubeconfig="+c.layout.UserKubeconfig("operator"),
				"--leader-elect=false",
				"--metrics-bind-address=0",
				"--health-probe-bind-address="+net.JoinHostPort(loopback, c.ports.operatorProbes))
		},
		ready: func(ctx context.Context) error { return c.probe(ctx, c.ports.operatorProbes) },
	}
}

// probe asks one of Rollcall's own processes whether it is ready.
func (c *Cluster) probe(ctx context.Context, port string) error {
	return answers(ctx, http.DefaultClient, "http://"+net.JoinHostPort(loopback, port)+"/readyz")
}

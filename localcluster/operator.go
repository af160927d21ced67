package localcluster

import (
	"context"
	"net"
	"net/http"
	"os/exec"
)

// operatorUser is who the operator is to the API server: its service account, with the rules of config/rbac.
const operatorUser = "system:serviceaccount:rollcall-system:rollcall-controller"

// operator is Rollcall itself, which is ready when it has read the cluster and may act.
func (c *Cluster) operator() component {
	return component{
		name: "operator",
		command: func() (*exec.Cmd, error) {
			return exec.Command(c.options.Operator, "controller",
				"--kubeconfig="+c.layout.UserKubeconfig("operator"),
				"--leader-elect=false",
				"--metrics-bind-address=0",
				"--health-probe-bind-address="+net.JoinHostPort(loopback, c.ports.probes)), nil
		},
		ready: func(ctx context.Context) error {
			return answers(ctx, http.DefaultClient, "http://"+net.JoinHostPort(loopback, c.ports.probes)+"/readyz")
		},
	}
}

package localcluster

import "os/exec"

func (c *Cluster) scheduler() component {
	const name = "kube-scheduler"
	return component{
		name: name,
		command: func() (*exec.Cmd, error) {
			kubeconfig := c.layout.UserKubeconfig(name)
			return program(name,
				"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
				"--bind-address="+loopback, "--secure-port="+c.ports.scheduler,
				"--tls-cert-file="+c.layout.Cert("server"), "--tls-private-key-file="+c.layout.Key("server"),
				"--leader-elect=false")
		},
		ready: c.healthy(c.ports.scheduler, "/healthz"),
	}
}

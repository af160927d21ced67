package localcluster

import "os/exec"

func (c *Cluster) controllerManager() component {
	const name = "kube-controller-manager"
	return component{
		name: name,
		command: func() (*exec.Cmd, error) {
			kubeconfig := c.layout.UserKubeconfig(name)
			return program(name,
				"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
				"--bind-address="+loopback, "--secure-port="+c.ports.controllerManager,
				"--tls-cert-file="+c.layout.Cert("server"), "--tls-private-key-file="+c.layout.Key("server"),
				"--leader-elect=false", "--use-service-account-credentials",
				"--service-account-private-key-file="+c.layout.Key(serviceAccountName), "--root-ca-file="+c.layout.Cert(caName),
				"--cluster-signing-cert-file="+c.layout.Cert(caName), "--cluster-signing-key-file="+c.layout.Key(caName),
				"--enable-hostpath-provisioner") // gives claims something to bind to
		},
		ready: c.healthy(c.ports.controllerManager, "/healthz"),
	}
}

package localcluster

import "os/exec"

func (c *Cluster) apiserver() component {
	return component{
		name: "kube-apiserver",
		command: func() (*exec.Cmd, error) {
			cert, key, root := c.layout.Cert("kube-apiserver"), c.layout.Key("kube-apiserver"), c.layout.Cert(caName)
			tokens := c.layout.Key(serviceAccountName)
			return program("kube-apiserver",
				"--etcd-servers="+url(c.ports.etcd),
				"--etcd-cafile="+root, "--etcd-certfile="+cert, "--etcd-keyfile="+key,
				"--bind-address="+loopback, "--secure-port="+c.ports.apiserver,
				"--endpoint-reconciler-type=none", // a loopback address can't be an endpoint
				"--tls-cert-file="+cert, "--tls-private-key-file="+key, "--client-ca-file="+root,
				"--authorization-mode=Node,RBAC", "--anonymous-auth=false",
				"--service-cluster-ip-range="+serviceRange,
				"--service-account-issuer=https://kubernetes.default.svc",
				"--service-account-key-file="+tokens, "--service-account-signing-key-file="+tokens,
				"--allow-privileged")
		},
		ready: c.healthy(c.ports.apiserver, "/readyz"),
	}
}

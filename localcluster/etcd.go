package localcluster

import "os/exec"

func (c *Cluster) etcd() component {
	return component{
		name: "etcd",
		command: func() (*exec.Cmd, error) {
			client, peer := url(c.ports.etcd), url(c.ports.etcdPeer)
			cert, key, root := c.layout.Cert("etcd"), c.layout.Key("etcd"), c.layout.Cert(caName)
			return program("etcd",
				"--name=local", "--data-dir="+c.layout.Data(),
				"--listen-client-urls="+client, "--advertise-client-urls="+client,
				"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=local="+peer,
				"--cert-file="+cert, "--key-file="+key, "--client-cert-auth", "--trusted-ca-file="+root,
				"--peer-cert-file="+cert, "--peer-key-file="+key, "--peer-client-cert-auth", "--peer-trusted-ca-file="+root,
				"--log-level=warn")
		},
		ready: c.healthy(c.ports.etcd, "/readyz"),
	}
}

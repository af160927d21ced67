package localcluster

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const contextName = "rollcall-local"

// writeKubeconfig writes a self-contained kubeconfig for the holder of a client certificate.
func writeKubeconfig(layout Layout, path, server, certificate string) error {
	files := map[string][]byte{layout.Cert(caName): nil, layout.Cert(certificate): nil, layout.Key(certificate): nil}
	for file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("writing kubeconfig %s: %w", path, err)
		}
		files[file] = content
	}
	config := clientcmdapi.NewConfig()
	config.CurrentContext = contextName
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: certificate}
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: files[layout.Cert(caName)]}
	config.AuthInfos[certificate] = &clientcmdapi.AuthInfo{
		ClientCertificateData: files[layout.Cert(certificate)],
		ClientKeyData:         files[layout.Key(certificate)],
	}
	return clientcmd.WriteToFile(*config, path)
}

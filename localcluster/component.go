package localcluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"
)

const (
	loopback = "127.0.0.1"
	// serviceIP is the first address of serviceRange, where pods would find the API server.
	serviceIP    = "10.0.0.1"
	serviceRange = "10.0.0.0/16"
)

// component is a part of the cluster: how it is started and when it is ready.
type component struct {
	name    string
	command func() (*exec.Cmd, error)
	ready   func(ctx context.Context) error
}

// program is this very binary, started under the name of the program it is to become.
func program(name string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program's own file: %w", err)
	}
	return &exec.Cmd{Path: self, Args: append([]string{name}, args...)}, nil
}

// freePort is a loopback port that nobody listens on.
func freePort() (string, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), nil
}

// checkPort says so when somebody else listens on the port already.
func checkPort(port string) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, port))
	if err != nil {
		return fmt.Errorf("port %s can't be used for the API server (%w); choose another with --port, or --port 0 for any free one", port, err)
	}
	return listener.Close()
}

// client talks to the cluster's servers as the holder of a certificate, and trusts the cluster's authority alone.
func (l Layout) client(certificate string) (*http.Client, error) {
	pair, err := tls.LoadX509KeyPair(l.Cert(certificate), l.Key(certificate))
	if err != nil {
		return nil, err
	}
	root, err := os.ReadFile(l.Cert(caName))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool}}
	return &http.Client{Transport: transport, Timeout: 5 * time.Second}, nil
}

// answers tells whether a health endpoint says that all is well.
func answers(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}

// healthy asks a component of the cluster whether it is ready.
func (c *Cluster) healthy(port, path string) func(context.Context) error {
	return func(ctx context.Context) error { return answers(ctx, c.client, url(port)+path) }
}

// url is the address of a component of the cluster.
func url(port string) string { return "https://" + net.JoinHostPort(loopback, port) }

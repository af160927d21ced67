package localcluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	// validity outlives any local cluster; renewBefore makes one that comes close get new certificates at its next start.
	validity    = 5 * 365 * 24 * time.Hour
	renewBefore = 30 * 24 * time.Hour

	caName             = "ca"
	serviceAccountName = "service-account"
)

// authority signs the certificates of one cluster.
type authority struct {
	layout Layout
	cert   *x509.Certificate
	key    crypto.Signer
}

// loadAuthority reads the cluster's authority, or makes one if there is none or it is about to expire.
func loadAuthority(layout Layout) (*authority, error) {
	if a, err := readAuthority(layout); err == nil && time.Until(a.cert.NotAfter) > renewBefore {
		return a, nil
	}
	key, err := newKey(layout.Key(caName))
	if err != nil {
		return nil, err
	}
	root, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "rollcall-local"}, key)
	if err != nil {
		return nil, fmt.Errorf("making the cluster's certificate authority: %w", err)
	}
	if err := writeCert(layout.Cert(caName), root); err != nil {
		return nil, err
	}
	return &authority{layout, root, key}, nil
}

func readAuthority(layout Layout) (*authority, error) {
	certs, err := cert.CertsFromFile(layout.Cert(caName))
	if err != nil {
		return nil, err
	}
	key, err := keyutil.PrivateKeyFromFile(layout.Key(caName))
	if err != nil {
		return nil, err
	}
	signer, is := key.(crypto.Signer)
	if !is {
		return nil, fmt.Errorf("%s can't sign", layout.Key(caName))
	}
	return &authority{layout, certs[0], signer}, nil
}

// serve issues a certificate for a server on loopback that may be a client as well, as etcd is to itself.
func (a *authority) serve(name string, dns ...string) error {
	return a.issue(name, &x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		DNSNames:    append([]string{"localhost"}, dns...),
		IPAddresses: []net.IP{net.ParseIP(loopback), net.ParseIP(serviceIP)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
}

// identify issues a client certificate: to the API server, the common name is the user and the organizations are the groups.
func (a *authority) identify(name, user string, groups ...string) error {
	return a.issue(name, &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) issue(name string, template *x509.Certificate) error {
	key, err := newKey(a.layout.Key(name))
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	template.NotBefore = a.cert.NotBefore
	template.NotAfter = time.Now().Add(validity)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("issuing certificate %s: %w", name, err)
	}
	issued, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	return writeCert(a.layout.Cert(name), issued)
}

// loadServiceAccountKey makes the key that signs service account tokens, once, so that tokens outlive a restart.
func loadServiceAccountKey(layout Layout) error {
	if _, err := keyutil.PrivateKeyFromFile(layout.Key(serviceAccountName)); err == nil {
		return nil
	}
	_, err := newKey(layout.Key(serviceAccountName))
	return err
}

func newKey(path string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making key %s: %w", path, err)
	}
	encoded, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, err
	}
	return key, os.WriteFile(path, encoded, 0o600)
}

func writeCert(path string, certificate *x509.Certificate) error {
	encoded, err := cert.EncodeCertificates(certificate)
	if err != nil {
		return err
	}
	return os.WriteFile(path, encoded, 0o600)
}

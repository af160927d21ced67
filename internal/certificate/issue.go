package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// pair is a certificate with its key, both as PEM.
type pair struct{ certificate, key []byte }

// isMissing is true of what the secret does not hold.
func (p pair) isMissing() bool { return len(p.certificate) == 0 || len(p.key) == 0 }

// issue makes a certificate for the hosts, and the authority that vouches for it.
func issue(hosts []string, now time.Time, lifetime time.Duration) (pair, *x509.Certificate, error) {
	term := Term{NotBefore: now.Add(-min(lifetime/10, longestBackdate)), NotAfter: now.Add(lifetime)}
	authority, authorityKey, err := newAuthority(term)
	if err != nil {
		return pair{}, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, nil, fmt.Errorf("generating the webhook's key: %w", err)
	}
	template, err := newTemplate("rollcall webhook", term)
	if err != nil {
		return pair{}, nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames, template.IPAddresses = split(hosts)
	der, err := x509.CreateCertificate(rand.Reader, template, authority, key.Public(), authorityKey)
	if err != nil {
		return pair{}, nil, fmt.Errorf("signing the webhook's certificate for %q: %w", hosts, err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, nil, fmt.Errorf("encoding the webhook's key: %w", err)
	}
	return pair{encode("CERTIFICATE", der), encode("PRIVATE KEY", keyDER)}, authority, nil
}

// newAuthority makes an authority. Its key is forgotten by the caller once it has signed.
func newAuthority(term Term) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generating the authority's key: %w", err)
	}
	template, err := newTemplate("rollcall webhook authority", term)
	if err != nil {
		return nil, nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, fmt.Errorf("signing the authority: %w", err)
	}
	authority, err := x509.ParseCertificate(der)
	return authority, key, err
}

func newTemplate(name string, term Term) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("choosing a serial number: %w", err)
	}
	// The serial number in the name tells authorities apart, which verification looks up by name.
	subject := pkix.Name{CommonName: name, SerialNumber: serial.Text(16)}
	return &x509.Certificate{SerialNumber: serial, Subject: subject, NotBefore: term.NotBefore, NotAfter: term.NotAfter}, nil
}

// split tells addresses from names.
func split(hosts []string) (names []string, addresses []net.IP) {
	for _, host := range hosts {
		if address := net.ParseIP(host); address != nil {
			addresses = append(addresses, address)
		} else {
			names = append(names, host)
		}
	}
	return names, addresses
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// load returns what the pair serves; an error where it can't be served.
func (p pair) load() (*tls.Certificate, error) {
	loaded, err := tls.X509KeyPair(p.certificate, p.key)
	if err != nil {
		return nil, err
	}
	return &loaded, nil
}

// term is the time for which a pair may be served under all the names; zero where it may not.
func (p pair) term(hosts []string, authorities []*x509.Certificate) Term {
	if p.isMissing() {
		return Term{}
	}
	loaded, err := p.load()
	if err != nil {
		return Term{}
	}
	for _, host := range hosts {
		if loaded.Leaf.VerifyHostname(host) != nil {
			return Term{}
		}
	}
	if !isVouchedFor(loaded.Leaf, authorities) {
		return Term{}
	}
	return Term{NotBefore: loaded.Leaf.NotBefore, NotAfter: loaded.Leaf.NotAfter}
}

func isVouchedFor(leaf *x509.Certificate, authorities []*x509.Certificate) bool {
	for _, authority := range authorities {
		if leaf.CheckSignatureFrom(authority) == nil {
			return true
		}
	}
	return false
}

package certificate

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Keys of the secret. The first two and the bundle bear the names that TLS secrets have everywhere.
const (
	servingCertificateKey = corev1.TLSCertKey
	servingKeyKey         = corev1.TLSPrivateKeyKey
	nextCertificateKey    = "next.crt"
	nextKeyKey            = "next.key"
	authoritiesKey        = "ca.crt"
)

// stock is what the secret holds.
type stock struct {
	serving, next pair
	authorities   []*x509.Certificate
}

// readStock reads the secret. What can't be read counts as missing: it will be made anew.
func readStock(secret *corev1.Secret) stock {
	return stock{
		serving:     pair{secret.Data[servingCertificateKey], secret.Data[servingKeyKey]},
		next:        pair{secret.Data[nextCertificateKey], secret.Data[nextKeyKey]},
		authorities: parseBundle(secret.Data[authoritiesKey]),
	}
}

// write puts the stock into the secret, in place of all that was in it.
func (s stock) write(secret *corev1.Secret) {
	secret.Data = map[string][]byte{
		servingCertificateKey: s.serving.certificate,
		servingKeyKey:         s.serving.key,
		authoritiesKey:        s.bundle(),
	}
	if !s.next.isMissing() {
		secret.Data[nextCertificateKey], secret.Data[nextKeyKey] = s.next.certificate, s.next.key
	}
}

// bundle is what the API server is told to trust.
func (s stock) bundle() []byte {
	var bundle bytes.Buffer
	for _, authority := range s.authorities {
		bundle.Write(encode("CERTIFICATE", authority.Raw))
	}
	return bundle.Bytes()
}

// begin serves a new certificate at once.
func (s stock) begin(issued pair, authority *x509.Certificate, now time.Time) stock {
	return stock{serving: issued, authorities: append(unexpired(s.authorities, now), authority)}
}

// prepare puts a new certificate next.
func (s stock) prepare(issued pair, authority *x509.Certificate, now time.Time) stock {
	return stock{serving: s.serving, next: issued, authorities: append(unexpired(s.authorities, now), authority)}
}

// promote serves the next certificate. Its predecessor's authority stays: other replicas may serve that for a while.
func (s stock) promote() stock {
	return stock{serving: s.next, authorities: s.authorities}
}

func unexpired(authorities []*x509.Certificate, now time.Time) []*x509.Certificate {
	return slices.DeleteFunc(slices.Clone(authorities), func(a *x509.Certificate) bool { return !a.NotAfter.After(now) })
}

func parseBundle(bundle []byte) []*x509.Certificate {
	var authorities []*x509.Certificate
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if authority, err := x509.ParseCertificate(block.Bytes); err == nil {
			authorities = append(authorities, authority)
		}
	}
	return authorities
}

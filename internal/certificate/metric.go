package certificate

import (
	"crypto/tls"

	"github.com/prometheus/client_golang/prometheus"
)

// ExpiryMetric is when the certificate that is served expires, as Unix time; alerts subtract the time from it. It is 0
// while there is no certificate.
const ExpiryMetric = "rollcall_webhook_certificate_expiry_timestamp_seconds"

// NewExpiryCollector watches the certificate that a function returns, whoever keeps it.
func NewExpiryCollector(get func(*tls.ClientHelloInfo) (*tls.Certificate, error)) prometheus.Collector {
	options := prometheus.GaugeOpts{
		Name: ExpiryMetric,
		Help: "When the certificate that the webhook serves expires, in seconds since 1970; 0 while there is none.",
	}
	return prometheus.NewGaugeFunc(options, func() float64 {
		served, err := get(&tls.ClientHelloInfo{})
		if err != nil || served.Leaf == nil {
			return 0
		}
		return float64(served.Leaf.NotAfter.Unix())
	})
}

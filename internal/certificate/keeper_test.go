package certificate

import (
	"context"
	"crypto/x509"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

const (
	host     = "rollcall-webhook.rollcall-system.svc"
	lifetime = time.Hour
)

var secretName = types.NamespacedName{Namespace: "rollcall-system", Name: "rollcall-webhook-certificate"}

// newServer is an API server with an empty secret and both configurations, as they are installed.
func newServer() client.Client {
	return fake.NewClientBuilder().WithObjects(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secretName.Namespace, Name: secretName.Name}},
		&admissionv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "rollcall"}, Webhooks: []admissionv1.MutatingWebhook{{Name: "default"}},
		},
		&admissionv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "rollcall"}, Webhooks: []admissionv1.ValidatingWebhook{{Name: "validate"}},
		},
	).Build()
}

func newKeeper(server client.Client) *Keeper {
	return New(Options{Client: server, Secret: secretName, Configurations: "rollcall", Hosts: []string{host}, Lifetime: lifetime})
}

// TestRenewalRefusesNobody runs three replicas for ten lifetimes in random order, some of them asleep for a while, and an
// API server that hears of new configurations late, though within the settling time. Whatever is served must be trusted.
func TestRenewalRefusesNobody(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	server := newServer()
	replicas := []*Keeper{newKeeper(server), newKeeper(server), newKeeper(server)}
	wake := make([]time.Time, len(replicas))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	late := &lateReader{server: server, lag: Term{start, start.Add(lifetime)}.settling() * 3 / 4}
	served := map[string]bool{}
	for now := start; now.Before(start.Add(10 * lifetime)); now = now.Add(15 * time.Second) {
		for _, i := range random.Perm(len(replicas)) {
			if now.Before(wake[i]) {
				continue
			}
			wake[i] = advance(t, replicas[i], now)
			if random.IntN(100) == 0 {
				wake[i] = now.Add(lifetime / 5) // this replica is asleep, or cut off
			}
		}
		late.look(t, now)
		for i, replica := range replicas {
			served[verify(t, now, i, replica, late.bundle(now))] = true
		}
	}
	if len(served) < 10 {
		t.Errorf("%d certificates in ten lifetimes, want at least 10", len(served))
	}
}

// advance takes one step and returns when the next is due; who was too late tries again.
func advance(t *testing.T, k *Keeper, now time.Time) time.Time {
	t.Helper()
	_, wake, err := k.advance(t.Context(), now)
	if err != nil && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
	return wake
}

// verify fails unless what a replica serves is trusted, and returns its serial number.
func verify(t *testing.T, now time.Time, replica int, k *Keeper, bundle []byte) string {
	t.Helper()
	served, err := k.GetCertificate(nil)
	if err != nil || bundle == nil {
		if now.Minute() < 10 && now.Hour() == 0 {
			return "" // the installation is not complete
		}
		t.Fatalf("%s: replica %d has nothing to serve or is not published: %v", now, replica, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	if _, err := served.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: now}); err != nil {
		t.Fatalf("%s: replica %d would be refused: %v", now, replica, err)
	}
	return served.Leaf.SerialNumber.String()
}

// lateReader is an API server that acts on configurations some time after they were written.
type lateReader struct {
	server client.Client
	lag    time.Duration
	seen   []sighting
}

type sighting struct {
	at     time.Time
	bundle []byte
}

func (l *lateReader) look(t *testing.T, now time.Time) {
	t.Helper()
	l.seen = append(l.seen, sighting{now, validating(t, l.server).Webhooks[0].ClientConfig.CABundle})
}

func (l *lateReader) bundle(now time.Time) []byte {
	var known []byte
	for len(l.seen) > 1 && !l.seen[1].at.After(now.Add(-l.lag)) {
		l.seen = l.seen[1:]
	}
	if !l.seen[0].at.After(now.Add(-l.lag)) {
		known = l.seen[0].bundle
	}
	return known
}

func validating(t *testing.T, server client.Client) *admissionv1.ValidatingWebhookConfiguration {
	t.Helper()
	found := &admissionv1.ValidatingWebhookConfiguration{}
	if err := server.Get(t.Context(), types.NamespacedName{Name: "rollcall"}, found); err != nil {
		t.Fatal(err)
	}
	return found
}

// What people do to the secret and the configurations is mended.
func TestRepairs(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]func(*corev1.Secret, *admissionv1.ValidatingWebhookConfiguration){
		"nothing happens":       func(*corev1.Secret, *admissionv1.ValidatingWebhookConfiguration) {},
		"the secret is emptied": func(s *corev1.Secret, _ *admissionv1.ValidatingWebhookConfiguration) { s.Data = nil },
		"the key is damaged": func(s *corev1.Secret, _ *admissionv1.ValidatingWebhookConfiguration) {
			s.Data[servingKeyKey] = []byte("?")
		},
		"the authorities are lost": func(s *corev1.Secret, _ *admissionv1.ValidatingWebhookConfiguration) { delete(s.Data, authoritiesKey) },
		"the configuration is reset": func(_ *corev1.Secret, c *admissionv1.ValidatingWebhookConfiguration) {
			c.Webhooks[0].ClientConfig.CABundle = nil
		},
		"a webhook joins": func(_ *corev1.Secret, c *admissionv1.ValidatingWebhookConfiguration) {
			c.Webhooks = append(c.Webhooks, admissionv1.ValidatingWebhook{Name: "late"})
		},
		"the certificate is another's": func(s *corev1.Secret, _ *admissionv1.ValidatingWebhookConfiguration) { swap(s, start) },
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			server := newServer()
			k := newKeeper(server)
			settle(t, k, start)
			secret := &corev1.Secret{}
			if err := server.Get(t.Context(), secretName, secret); err != nil {
				t.Fatal(err)
			}
			configuration := validating(t, server)
			damage(secret, configuration)
			for _, object := range []client.Object{secret, configuration} {
				if err := server.Update(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
			now := start.Add(time.Minute)
			settle(t, k, now)
			for _, webhook := range validating(t, server).Webhooks {
				verify(t, now.Add(lifetime/2), 0, k, webhook.ClientConfig.CABundle)
			}
		})
	}
}

// swap puts a certificate for another host into the secret.
func swap(secret *corev1.Secret, now time.Time) {
	issued, authority, err := issue([]string{"elsewhere"}, now, lifetime)
	if err != nil {
		panic(err)
	}
	stock{}.begin(issued, authority, now).write(secret)
}

// settle takes steps until there is nothing to do, which must not take many.
func settle(t *testing.T, k *Keeper, now time.Time) {
	t.Helper()
	for range 5 {
		step, _, err := k.advance(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		if step == Rest {
			return
		}
	}
	t.Fatal("no rest after five steps")
}

// The key of the authority is nowhere, and expired authorities leave the bundle.
func TestSecretHoldsNoMoreThanNeeded(t *testing.T) {
	server := newServer()
	k := newKeeper(server)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for now := start; now.Before(start.Add(5 * lifetime)); now = now.Add(time.Minute) {
		advance(t, k, now)
	}
	secret := &corev1.Secret{}
	if err := server.Get(t.Context(), secretName, secret); err != nil {
		t.Fatal(err)
	}
	if n := len(parseBundle(secret.Data[authoritiesKey])); n > 3 {
		t.Errorf("%d authorities after five lifetimes, want no more than three", n)
	}
	keys := 0
	for _, value := range secret.Data {
		keys += strings.Count(string(value), "PRIVATE KEY-----") / 2
	}
	if keys > 2 {
		t.Errorf("%d private keys in the secret, want those of the serving and the next certificate", keys)
	}
}

// A missing secret says what to do; what was served before still is.
func TestMissingSecret(t *testing.T) {
	server := newServer()
	k := newKeeper(server)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	settle(t, k, start)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secretName.Namespace, Name: secretName.Name}}
	if err := server.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.advance(t.Context(), start); err == nil || !strings.Contains(err.Error(), "must exist, if only empty") {
		t.Errorf("error %v, want one that says what to do", err)
	}
	verify(t, start, 0, k, validating(t, server).Webhooks[0].ClientConfig.CABundle)
}

// Obtain returns with a certificate, and readiness waits for its publication.
func TestObtainAndReadiness(t *testing.T) {
	k := newKeeper(newServer())
	if err := k.Check(nil); err == nil {
		t.Error("ready without a certificate")
	}
	if err := k.Obtain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := k.GetCertificate(nil); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for k.Check(nil) != nil && t.Context().Err() == nil {
			<-ticker.C
		}
	}()
	if err := k.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := k.Check(nil); err != nil {
		t.Error(err)
	}
}

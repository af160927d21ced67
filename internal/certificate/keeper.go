package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// afterFailure is how long to wait after an error; two replicas in each other's way need no longer.
const afterFailure = time.Second

// Options say where things are.
type Options struct {
	// Client reads and writes at the API server, past any cache.
	Client client.Client
	// Secret holds the certificate. It must exist, if only empty: so no right to create secrets is needed.
	Secret types.NamespacedName
	// Configurations is the name of the mutating and the validating webhook configuration; one of them may be missing.
	Configurations string
	// Hosts are the names and addresses under which the API server calls the webhook.
	Hosts []string
	// Lifetime is that of new certificates.
	Lifetime time.Duration
}

// Keeper keeps the certificate of one replica.
type Keeper struct {
	options Options
	serving atomic.Pointer[tls.Certificate]
	// isPublished is true once the API server has been told to trust what is served.
	isPublished atomic.Bool
	// bundle is what the configurations trusted when last seen, and since when they have been seen to.
	bundle string
	since  time.Time
}

// New returns a keeper that has nothing yet.
func New(options Options) *Keeper { return &Keeper{options: options} }

// GetCertificate returns the certificate to serve, for a tls.Config.
func (k *Keeper) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	serving := k.serving.Load()
	if serving == nil {
		return nil, errors.New("there is no certificate yet")
	}
	return serving, nil
}

// Check is a readiness check: there is a certificate, and the API server was told to trust it.
func (k *Keeper) Check(*http.Request) error {
	if k.serving.Load() == nil || !k.isPublished.Load() {
		return errors.New("the certificate is not published yet")
	}
	return nil
}

// NeedLeaderElection is false: every replica serves, and each follows the same rule.
func (k *Keeper) NeedLeaderElection() bool { return false }

// Start keeps the certificate until the context ends. Errors are logged and tried again; what was served before still is.
func (k *Keeper) Start(ctx context.Context) error {
	return k.keep(ctx, func() bool { return false })
}

// Obtain returns when there is a certificate to serve.
func (k *Keeper) Obtain(ctx context.Context) error {
	return k.keep(ctx, func() bool { return k.serving.Load() != nil })
}

// keep takes step after step until enough is done or the context ends.
func (k *Keeper) keep(ctx context.Context, enough func() bool) error {
	logger := log.FromContext(ctx).WithName("certificate").WithValues("secret", k.options.Secret.String())
	for {
		step, wake, err := k.advance(ctx, time.Now())
		switch {
		case ctx.Err() != nil:
			return nil
		case apierrors.IsConflict(err):
			logger.V(1).Info("Another replica was faster")
			wake = time.Now().Add(afterFailure / 10)
		case err != nil:
			logger.Error(err, "The certificate could not be looked after; trying again", "step", step)
			wake = time.Now().Add(afterFailure)
		case step != Rest:
			logger.Info("Renewing the certificate", "step", step)
		}
		if enough() {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(wake)):
		}
	}
}

// advance looks at what there is and takes the next step.
func (k *Keeper) advance(ctx context.Context, now time.Time) (Step, time.Time, error) {
	// In this order; the package's comment says why.
	trusting, err := k.readConfigurations(ctx)
	if err != nil {
		return Rest, now, err
	}
	secret := &corev1.Secret{}
	if err := k.options.Client.Get(ctx, k.options.Secret, secret); err != nil {
		return Rest, now, fmt.Errorf("reading the webhook's certificate from secret %s (it must exist, if only empty): %w", k.options.Secret, err)
	}
	held := readStock(secret)
	k.serve(held)
	situation := Situation{
		Now:            now,
		Serving:        held.serving.term(k.options.Hosts, held.authorities),
		Next:           held.next.term(k.options.Hosts, held.authorities),
		PublishedSince: k.publishedSince(trusting, held, now),
	}
	step, wake := Decide(situation)
	if len(trusting) == 0 {
		wake = earlier(wake, now.Add(afterFailure)) // they may be about to be created
	}
	return step, wake, k.take(ctx, step, held, trusting, secret, now)
}

// take does what was decided.
func (k *Keeper) take(ctx context.Context, step Step, held stock, trusting []configuration, secret *corev1.Secret, now time.Time) error {
	switch step {
	case Begin, Prepare:
		issued, authority, err := issue(k.options.Hosts, now, k.options.Lifetime)
		if err != nil {
			return err
		}
		renewed := held.begin(issued, authority, now)
		if step == Prepare {
			renewed = held.prepare(issued, authority, now)
		}
		return k.store(ctx, secret, renewed)
	case Promote:
		return k.store(ctx, secret, held.promote())
	case Publish:
		return k.publish(ctx, trusting, held.bundle())
	default:
		return nil
	}
}

// store writes the secret, unless somebody else has written it since it was read.
func (k *Keeper) store(ctx context.Context, secret *corev1.Secret, held stock) error {
	held.write(secret)
	if err := k.options.Client.Update(ctx, secret); err != nil {
		return fmt.Errorf("storing the webhook's certificate in secret %s: %w", k.options.Secret, err)
	}
	k.serve(held)
	return nil
}

// serve serves what the secret says, if that can be served at all.
func (k *Keeper) serve(held stock) {
	if held.serving.isMissing() {
		return
	}
	if loaded, err := held.serving.load(); err == nil {
		k.serving.Store(loaded)
	}
}

// publishedSince remembers since when the configurations have trusted exactly what the secret holds.
func (k *Keeper) publishedSince(trusting []configuration, held stock, now time.Time) time.Time {
	bundle := string(held.bundle())
	for _, configuration := range trusting {
		if !configuration.trusts(bundle) {
			k.bundle, k.since = "", time.Time{}
			return k.since
		}
	}
	if k.bundle != bundle || k.since.IsZero() {
		k.bundle, k.since = bundle, now
	}
	k.isPublished.Store(len(trusting) > 0)
	return k.since
}

package certificate

import "time"

// Step is what to do next about the certificate.
type Step string

// The steps, in the order in which a renewal takes them.
const (
	// Rest does nothing until it is time to look again.
	Rest Step = "Rest"
	// Begin issues a certificate and serves it at once, because there is none that anybody would accept.
	Begin Step = "Begin"
	// Prepare issues the next certificate, to be trusted before it is served.
	Prepare Step = "Prepare"
	// Publish writes the authorities into the webhook configurations.
	Publish Step = "Publish"
	// Promote serves the next certificate.
	Promote Step = "Promote"
)

// Bounds of the times that follow from the lifetime of certificates.
const (
	// longestSettling is more than API servers need to hear of a change, even in a large cluster on a bad day.
	longestSettling = 5 * time.Minute
	// longestPause is how long a change to the secret or to the configurations may go unnoticed.
	longestPause = time.Minute
	// longestBackdate allows for clocks that are behind ours.
	longestBackdate = 5 * time.Minute
)

// Situation is everything that a decision is made from.
type Situation struct {
	Now time.Time
	// Serving and Next are the certificates in the secret.
	Serving, Next Term
	// PublishedSince is when this process first saw the configurations trust all authorities of the secret as it is; zero
	// while they don't.
	PublishedSince time.Time
}

// Term is the time for which a certificate is good. The zero Term is that of a certificate that is missing, or that can't
// be used: unreadable, or for other hosts.
type Term struct{ NotBefore, NotAfter time.Time }

func (t Term) isUsable(now time.Time) bool { return t.NotAfter.After(now) && !t.NotBefore.After(now) }

func (t Term) lifetime() time.Duration { return t.NotAfter.Sub(t.NotBefore) }

// renewal is when a third of the lifetime is left.
func (t Term) renewal() time.Time { return t.NotAfter.Add(-t.lifetime() / 3) }

// settling is how long an authority is published before what it signed is served.
func (t Term) settling() time.Duration { return min(t.lifetime()/20, longestSettling) }

// Decide returns the next step, and when to look again if nothing happens before. The first rule that applies wins.
func Decide(s Situation) (Step, time.Time) {
	switch {
	case !s.Serving.isUsable(s.Now) && s.Next.isUsable(s.Now):
		return Promote, s.Now // nobody trusts what is served, so there is nothing to wait for
	case !s.Serving.isUsable(s.Now):
		return Begin, s.Now
	case s.PublishedSince.IsZero():
		return Publish, s.Now
	case s.Next.isUsable(s.Now) && s.Now.Before(s.PublishedSince.Add(s.Next.settling())):
		return Rest, earlier(s.PublishedSince.Add(s.Next.settling()), s.Now.Add(pause(s.Next)))
	case s.Next.isUsable(s.Now):
		return Promote, s.Now
	case !s.Now.Before(s.Serving.renewal()):
		return Prepare, s.Now
	default:
		return Rest, earlier(s.Serving.renewal(), s.Now.Add(pause(s.Serving)))
	}
}

// pause is how long to rest at most: replicas follow each other well within the settling time.
func pause(t Term) time.Duration { return min(t.settling()/3, longestPause) }

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

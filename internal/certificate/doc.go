// Package certificate keeps the webhook's serving certificate: it issues it, renews it in time, and has the API server
// trust it, with any number of replicas at work and without a moment in which a request is refused.
//
// A certificate comes with an authority of its own, whose key is thrown away once it has signed: nobody can sign anything
// else with it, and every renewal takes the same path. What there is lies in one secret:
//
//	tls.crt, tls.key     the certificate that every replica serves
//	next.crt, next.key   the one that will be served next, while a renewal is under way
//	ca.crt               the authorities of all that have not expired
//
// A renewal begins when a third of the lifetime is left. First the next certificate is stored and its authority published
// in the webhook configurations, beside the others. Once it has been there long enough for every API server to know
// (the settling time), the next certificate takes the place of the one served. Authorities leave the bundle when they
// expire, so a replica that still serves the certificate of before is trusted, too.
//
// Replicas need no leader: each follows the same rule (Decide), every write carries the resource version that was read,
// and who comes second reads again. The configurations are read before the secret: so a replica that has not seen the
// newest authority has not seen the newest configuration either, and can't overwrite it.
package certificate

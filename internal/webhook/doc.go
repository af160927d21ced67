// Package webhook admits sets: what neither the CRD's schema nor its CEL rules can judge is judged here.
//
// The mutating side undoes what a disabled gate drops and spells values as they are stored. The validating side applies
// the gates and asks the API server itself whether the pod template is valid, by a dry-run create of a core/v1
// PodTemplate: so a set is held to exactly the rules of its cluster, and no copy of them is linked in.
//
// A refusal is final; every other trouble (a slow API server, a missing permission, a quota) becomes a warning, and the
// set is accepted. Users never wait for us longer than the webhook's own deadline.
package webhook

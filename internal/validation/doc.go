// Package validation holds the rules about a set that the CRD's schema and its CEL expressions can't say: those that
// depend on the feature gates of a process, and those whose cost the API server could not bound. All other rules live
// with the types in api/v1, or with the cluster, which judges the pod template itself.
package validation

// Package v1 is the API that users write against: apps.rollcall.dev/v1.
//
// Its StatefulSet is a strict superset of the one in apps/v1: every field has
// the same JSON name, the same default and the same meaning, so a manifest
// moves over by changing its apiVersion alone. What Rollcall adds is marked as
// an extension in the field's comment.
//
// +kubebuilder:object:generate=true
// +groupName=apps.rollcall.dev
package v1

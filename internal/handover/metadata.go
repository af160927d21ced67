package handover

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lastApplied is where kubectl remembers what was applied.
const lastApplied = corev1.LastAppliedConfigAnnotation

// argoTracking are the marks by which Argo CD knows an object as its own. The
// annotation has the API group in it; and an object that is tracked but not in
// git is one to prune. The next sync puts them back.
var argoTracking = []string{"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance"}

// carriedMeta is the part of an object's metadata that moves along: labels,
// annotations and owners, not what the API server keeps or other controllers wait for.
func carriedMeta(from metav1.Object, apiVersion string) metav1.ObjectMeta {
	carried := metav1.ObjectMeta{
		Namespace:       from.GetNamespace(),
		Name:            from.GetName(),
		Labels:          maps.Clone(from.GetLabels()),
		Annotations:     maps.Clone(from.GetAnnotations()),
		OwnerReferences: slices.Clone(from.GetOwnerReferences()),
	}
	for _, key := range argoTracking {
		delete(carried.Labels, key)
		delete(carried.Annotations, key)
	}
	delete(carried.Annotations, Mark)
	delete(carried.Annotations, Record)
	if applied, ok := carried.Annotations[lastApplied]; ok {
		carried.Annotations[lastApplied] = withAPIVersion(applied, apiVersion)
	}
	return carried
}

// withAPIVersion changes what was last applied as its author has to: one line.
// So the next `kubectl apply` removes what was taken out of the manifest since.
func withAPIVersion(manifest, apiVersion string) string {
	var fields map[string]any
	if err := json.Unmarshal([]byte(manifest), &fields); err != nil {
		return manifest // not of kubectl's making; nobody relies on it
	}
	fields["apiVersion"] = apiVersion
	changed, err := json.Marshal(fields)
	if err != nil {
		return manifest
	}
	return string(changed) + "\n"
}

// Keepers names the tools that would undo a move, each with what to do about it.
func Keepers(set metav1.Object) []string {
	labels, annotations := set.GetLabels(), set.GetAnnotations()
	var keepers []string
	if annotations[argoTracking[0]] != "" || labels[argoTracking[1]] != "" {
		keepers = append(keepers, "Argo CD manages it: switch its automated sync off before, and on again when git has the new apiVersion")
	}
	for _, kind := range []string{"kustomize", "helm"} {
		if name := labels[kind+".toolkit.fluxcd.io/name"]; name != "" {
			keepers = append(keepers, fmt.Sprintf("Flux manages it: \"flux suspend %s %s\" before, and resume it when git has the new apiVersion", fluxKinds[kind], name))
		}
	}
	if release := annotations["meta.helm.sh/release-name"]; release != "" {
		keepers = append(keepers, fmt.Sprintf("Helm release %s owns it: change the apiVersion in the chart before its next upgrade", release))
	}
	return keepers
}

// fluxKinds are what the command of Flux calls the kinds that make objects.
var fluxKinds = map[string]string{"kustomize": "kustomization", "helm": "helmrelease"}

package cli

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/handover"
)

// builtInResource is how the plugin calls a set of apps/v1 in what it prints: statefulset.apps/web.
const builtInResource = "statefulset.apps"

// readSituation reads both sets of a name and what belongs to them. The one of apps/v1 is also returned as it is stored,
// with fields that this program does not know.
func (m *mover) readSituation(ctx context.Context, key client.ObjectKey) (handover.Situation, *unstructured.Unstructured, error) {
	s := handover.Situation{}
	stored, err := m.readBuiltIn(ctx, key)
	if err != nil {
		return s, nil, err
	}
	if stored != nil {
		s.BuiltIn = &appsv1.StatefulSet{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, s.BuiltIn); err != nil {
			return s, nil, fmt.Errorf("reading %s/%s: %w", builtInResource, key.Name, err)
		}
	}
	ours := &v1.StatefulSet{}
	switch err := m.client.Get(ctx, key, ours); {
	case err == nil:
		s.Ours = ours
	case !apierrors.IsNotFound(err) || isUnknownResource(err):
		return s, nil, fmt.Errorf("reading %s/%s: %w", resource, key.Name, err)
	}
	return s, stored, m.readMembers(ctx, key, &s)
}

// readBuiltIn returns nil if there is no such set.
func (m *mover) readBuiltIn(ctx context.Context, key client.ObjectKey) (*unstructured.Unstructured, error) {
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(v1.Kind.Kind))
	err := m.client.Get(ctx, key, stored)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s/%s: %w", builtInResource, key.Name, err)
	}
	return stored, nil
}

// readMembers adds the pods, claims and revisions.
func (m *mover) readMembers(ctx context.Context, key client.ObjectKey, s *handover.Situation) error {
	kin, err := kinOf(*s)
	if err != nil || kin == nil {
		return err
	}
	var pods corev1.PodList
	var claims corev1.PersistentVolumeClaimList
	var revisions appsv1.ControllerRevisionList
	for _, list := range []client.ObjectList{&pods, &claims, &revisions} {
		if err := m.client.List(ctx, list, client.InNamespace(key.Namespace)); err != nil {
			return fmt.Errorf("listing what belongs to %s: %w", key.Name, err)
		}
	}
	s.Pods = selected(pods.Items, kin.IsPod)
	s.Claims = selected(claims.Items, kin.IsClaim)
	s.Revisions = selected(revisions.Items, kin.IsRevision)
	return nil
}

func selected[T any](items []T, isWanted func(*T) bool) []*T {
	var wanted []*T
	for i := range items {
		if isWanted(&items[i]) {
			wanted = append(wanted, &items[i])
		}
	}
	return wanted
}

// kinOf returns what tells the members of the set, nil if there is no set at all.
func kinOf(s handover.Situation) (*handover.Kin, error) {
	kin := &handover.Kin{}
	var selector *metav1.LabelSelector
	var templates []corev1.PersistentVolumeClaim
	switch {
	case s.Ours != nil:
		kin.Name, selector, templates = s.Ours.Name, s.Ours.Spec.Selector, s.Ours.Spec.VolumeClaimTemplates
	case s.BuiltIn != nil:
		kin.Name, selector, templates = s.BuiltIn.Name, s.BuiltIn.Spec.Selector, s.BuiltIn.Spec.VolumeClaimTemplates
	default:
		return nil, nil
	}
	for i := range templates {
		kin.ClaimTemplates = append(kin.ClaimTemplates, templates[i].Name)
	}
	var err error
	if kin.Selector, err = metav1.LabelSelectorAsSelector(selector); err != nil {
		return nil, fmt.Errorf("reading the selector of %s: %w", kin.Name, err)
	}
	return kin, nil
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/preview"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// reachPatience is how long a cluster is given to answer when a file alone would do.
const reachPatience = 5 * time.Second

// onlineRequest makes a request about a set in the cluster.
func (v *planVerb) onlineRequest(ctx context.Context, argument string) (preview.Request, error) {
	if v.file == "" {
		return v.editRequest(ctx, argument)
	}
	after, err := v.wanted(argument)
	if err != nil {
		return preview.Request{}, err
	}
	c, live, err := v.reach(ctx, after)
	switch {
	case isNoCluster(err):
		v.note("%s, so the set is taken to be new (--offline)", oneLine(explain(err)))
		v.offline = true
		return preview.Request{Set: v.newborn(after), Now: v.Now(), Gates: plan.AllGates()}, nil
	case err != nil:
		return preview.Request{}, err
	case live == nil:
		return v.creation(ctx, c, after)
	}
	return v.application(ctx, c, live, after)
}

// editRequest is about a change that flags describe.
func (v *planVerb) editRequest(ctx context.Context, argument string) (preview.Request, error) {
	c, err := v.client()
	if err != nil {
		return preview.Request{}, err
	}
	live, err := v.readSet(ctx, c, argument)
	if err != nil {
		return preview.Request{}, err
	}
	after := live.DeepCopy()
	if err := v.edits.apply(after, v.Now()); err != nil {
		return preview.Request{}, err
	}
	err = c.Update(ctx, after, client.DryRunAll)
	if after, err = v.judged(after, live, err); err != nil {
		return preview.Request{}, err
	}
	return v.requestFor(ctx, c, live, after)
}

// reach looks for the set of a file in the cluster, for a while; nil if there is none.
func (v *planVerb) reach(ctx context.Context, after *v1.StatefulSet) (client.Client, *v1.StatefulSet, error) {
	c, err := v.client()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, reachPatience)
	defer cancel()
	live := &v1.StatefulSet{}
	err = c.Get(ctx, client.ObjectKey{Namespace: v.namespaceOf(after), Name: after.Name}, live)
	switch {
	case apierrors.IsNotFound(err) && !isUnknownResource(err):
		return c, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("reading %s/%s: %w", resource, after.Name, err)
	}
	v1.SetDefaults(live)
	return c, live, nil
}

// isNoCluster tells whether there is no cluster, or none that knows sets.
func isNoCluster(err error) bool {
	return err != nil && !errors.Is(err, context.Canceled) &&
		(clientcmd.IsEmptyConfig(err) || isUnreachable(err) || meta.IsNoMatchError(err) || isUnknownResource(err))
}

// creation is about a set that is not there yet.
func (v *planVerb) creation(ctx context.Context, c client.Client, after *v1.StatefulSet) (preview.Request, error) {
	created := after.DeepCopy()
	created.Namespace, created.ResourceVersion, created.UID = v.namespaceOf(after), "", ""
	err := c.Create(ctx, created, client.DryRunAll)
	if created, err = v.judged(created, nil, err); err != nil {
		return preview.Request{}, err
	}
	born := v.newborn(created)
	claims, err := v.withClaims(ctx, c, plan.Observation{Set: born})
	return preview.Request{Set: claims.Set, Claims: valuesOf(claims.Claims), Now: v.Now(), Gates: plan.AllGates()}, err
}

// application is about what "kubectl apply" would make of a set and a file.
func (v *planVerb) application(ctx context.Context, c client.Client, live, after *v1.StatefulSet) (preview.Request, error) {
	written, err := v.written(after)
	if err != nil {
		return preview.Request{}, err
	}
	applied := live.DeepCopy()
	patch, options, err := applyPatch(live, written)
	if err != nil {
		return preview.Request{}, err
	}
	err = c.Patch(ctx, applied, patch, append(options, client.DryRunAll)...)
	if apierrors.IsForbidden(err) {
		applied.Spec = after.Spec
	}
	if applied, err = v.judged(applied, live, err); err != nil {
		return preview.Request{}, err
	}
	return v.requestFor(ctx, c, live, applied)
}

// written is the file as its author wrote it, without defaults, so that a field that it does not name is left as it is.
// With edits by flags, it is the edited set.
func (v *planVerb) written(after *v1.StatefulSet) (*unstructured.Unstructured, error) {
	_, written, err := v.readManifest(v.file, after.Name)
	if err != nil || len(v.edits.given) == 0 {
		return written, err
	}
	encoded, err := json.Marshal(map[string]any{
		"apiVersion": v1.GroupVersion.String(), "kind": v1.Kind.Kind,
		"metadata": map[string]any{"name": after.Name, "labels": after.Labels, "annotations": after.Annotations},
		"spec":     after.Spec,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding %s/%s: %w", resource, after.Name, err)
	}
	return written, written.UnmarshalJSON(encoded)
}

// applyPatch is what "kubectl apply" would send: server-side if the set was last applied so, else the difference between
// what was applied last, what the file says and what is stored.
func applyPatch(live *v1.StatefulSet, written *unstructured.Unstructured) (client.Patch, []client.PatchOption, error) {
	modified, err := written.MarshalJSON()
	if err != nil {
		return nil, nil, fmt.Errorf("encoding %s/%s: %w", resource, live.Name, err)
	}
	if manager := serverSideManager(live); manager != "" {
		return client.RawPatch(types.ApplyPatchType, modified), []client.PatchOption{client.ForceOwnership, client.FieldOwner(manager)}, nil
	}
	current, err := json.Marshal(live)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding %s/%s: %w", resource, live.Name, err)
	}
	last := []byte(live.Annotations[corev1.LastAppliedConfigAnnotation])
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last, modified, current)
	if err != nil {
		return nil, nil, fmt.Errorf("comparing the file with %s/%s: %w", resource, live.Name, err)
	}
	return client.RawPatch(types.MergePatchType, patch), nil, nil
}

// serverSideManager is who last applied the set server-side with kubectl; "" if nobody did.
func serverSideManager(live *v1.StatefulSet) string {
	const kubectl = "kubectl"
	isApplied := slices.ContainsFunc(live.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == kubectl && entry.Operation == metav1.ManagedFieldsOperationApply
	})
	if isApplied && live.Annotations[corev1.LastAppliedConfigAnnotation] == "" {
		return kubectl
	}
	return ""
}

// judged is the set as the API server would store it. Somebody who may not change the set may still ask what would be: then
// the rules of the CRD are asked alone.
func (v *planVerb) judged(after, live *v1.StatefulSet, err error) (*v1.StatefulSet, error) {
	switch {
	case err == nil:
		v1.SetDefaults(after)
		return after, nil
	case isLackOfRights(err):
		v.note("you may not make this change yourself, so only the rules of the CRD were asked about it")
		return v.judgedAlone(after, live)
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return nil, failf("the API server would refuse this: %s", rootMessage(err))
	default:
		return nil, fmt.Errorf("asking the API server about %s/%s: %w", resource, after.Name, err)
	}
}

func (v *planVerb) judgedAlone(after, live *v1.StatefulSet) (*v1.StatefulSet, error) {
	status, generation := after.Status, after.Generation
	accepted, err := acceptUpdate(after, nil, "the change")
	if err != nil {
		return nil, err
	}
	accepted.Status, accepted.Generation = status, generation
	if live != nil {
		accepted.Generation = live.Generation + 1
	}
	return accepted, nil
}

// isLackOfRights tells whether it is the user, and not the change, that is refused.
func isLackOfRights(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(rootMessage(err), `" cannot `)
}

// requestFor gathers what there is of a set. Where the new template means the same as one that is recorded, in other words,
// it is taken for that one, as the operator does.
func (v *planVerb) requestFor(ctx context.Context, c client.Client, live, after *v1.StatefulSet) (preview.Request, error) {
	observation, err := v.observe(ctx, c, live)
	if err != nil {
		return preview.Request{}, err
	}
	observation.Set = after
	if observation, err = v.withClaims(ctx, c, observation); err != nil {
		return preview.Request{}, err
	}
	// What is read live of the set is the set as it is, so adoption is not asked about.
	observation.Live.Set = true
	if observation, err = v.complete(ctx, c, observation); err != nil {
		return preview.Request{}, err
	}
	return preview.Request{
		Set: withRecordedTemplate(observation), Pods: observation.Pods, Claims: valuesOf(observation.Claims),
		Revisions: observation.Revisions, Now: observation.Now, Gates: observation.Gates,
	}, nil
}

func withRecordedTemplate(o plan.Observation) *v1.StatefulSet {
	target := planner.Compute(o).Status.UpdateRevision
	for _, recorded := range o.Revisions {
		if recorded.Name != target {
			continue
		}
		if template, err := revision.Template(recorded); err == nil {
			set := o.Set.DeepCopy()
			set.Spec.Template = *template
			return set
		}
	}
	return o.Set
}

func valuesOf(claims map[string]*corev1.PersistentVolumeClaim) []*corev1.PersistentVolumeClaim {
	var values []*corev1.PersistentVolumeClaim
	for _, claim := range claims {
		values = append(values, claim)
	}
	return values
}

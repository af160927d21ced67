package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// pageSize bounds the memory that a live list of pods takes at the API server.
const pageSize = 500

// Complete adds to an observation what a plan needs from the API server itself.
// The error is "not found" when the set observed is gone, also if another one
// has its name.
func (o *Observer) Complete(ctx context.Context, observation plan.Observation, needs plan.LiveReads) (plan.Observation, error) {
	for _, read := range []struct {
		isNeeded bool
		add      func(context.Context, *plan.Observation) error
	}{
		{needs.Set, o.addLiveSet},
		{needs.Pods, o.addLivePods},
		{needs.Templates, o.addTemplates},
	} {
		if !read.isNeeded {
			continue
		}
		if err := read.add(ctx, &observation); err != nil {
			return plan.Observation{}, err
		}
	}
	return observation, nil
}

// addLiveSet reads the set anew. Adoption relies on it: the garbage collector
// may be at work on a set that the view still shows alive.
func (o *Observer) addLiveSet(ctx context.Context, observation *plan.Observation) error {
	key := client.ObjectKeyFromObject(observation.Set)
	set := &v1.StatefulSet{}
	if err := o.live.Get(ctx, key, set); err != nil {
		return fmt.Errorf("read set %s from the API server: %w", key, err)
	}
	if set.UID != observation.Set.UID {
		gone := apierrors.NewNotFound(v1.GroupVersion.WithResource("statefulsets").GroupResource(), key.Name)
		return fmt.Errorf("read set %s from the API server: another set has its name: %w", key, gone)
	}
	v1.SetDefaults(set)
	observation.Set = set
	observation.Live.Set = true
	return nil
}

// addLivePods lists the pods anew. It looks at every pod of the namespace: one
// that lost its label still runs, and Recreate must not start beside it.
func (o *Observer) addLivePods(ctx context.Context, observation *plan.Observation) error {
	set := observation.Set
	var found []*corev1.Pod
	page := corev1.PodList{}
	for more := true; more; more = page.Continue != "" {
		options := []client.ListOption{client.InNamespace(set.Namespace), client.Limit(pageSize), client.Continue(page.Continue)}
		page = corev1.PodList{}
		if err := o.live.List(ctx, &page, options...); err != nil {
			return fmt.Errorf("list the pods of set %s/%s at the API server: %w", set.Namespace, set.Name, err)
		}
		for i := range page.Items {
			if bearsOn(&page.Items[i], set) {
				found = append(found, page.Items[i].DeepCopy())
			}
		}
	}
	observation.Pods = found
	observation.Live.Pods = true
	return nil
}

// bearsOn is the rule of the two indexes for objects that did not come from them.
func bearsOn(pod *corev1.Pod, set *v1.StatefulSet) bool {
	controller := metav1.GetControllerOfNoCopy(pod)
	stem, ok := Stem(pod.Name)
	return (controller != nil && controller.UID == set.UID) || (ok && stem == set.Name)
}

func (o *Observer) addTemplates(ctx context.Context, observation *plan.Observation) error {
	defaulted, err := o.templates.of(ctx, observation.Set, observation.Revisions)
	if err != nil {
		return err
	}
	observation.Defaulted = defaulted
	observation.Live.Templates = true
	return nil
}

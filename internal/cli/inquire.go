package cli

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	explanation "github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/observe"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
)

// inquire reads all that an explanation is made of. What the user may not read is left out, with a note.
func (p *Program) inquire(ctx context.Context, c client.Client, set *v1.StatefulSet) (explanation.Question, error) {
	observation, err := p.observeAll(ctx, c, set)
	if err != nil {
		return explanation.Question{}, err
	}
	question := explanation.Question{Observation: observation}
	if question.Events, err = p.readEvents(ctx, c, set.Namespace); err != nil {
		return question, err
	}
	question.Nodes, err = p.readNodes(ctx, c, observation.Pods)
	return question, err
}

// observeAll reads what the operator looks at, claims and the meaning of templates included.
func (p *Program) observeAll(ctx context.Context, c client.Client, set *v1.StatefulSet) (plan.Observation, error) {
	observation, err := p.observe(ctx, c, set)
	if err != nil {
		return observation, err
	}
	if observation, err = p.withClaims(ctx, c, observation); err != nil {
		return observation, err
	}
	return p.complete(ctx, c, observation)
}

// withClaims adds the claims of the set. If they can't be read, the set is looked at as if it had none: to take them for
// missing would be wrong.
func (p *Program) withClaims(ctx context.Context, c client.Reader, o plan.Observation) (plan.Observation, error) {
	o.Claims = map[string]*corev1.PersistentVolumeClaim{}
	if len(o.Set.Spec.VolumeClaimTemplates) == 0 {
		return o, nil
	}
	var list corev1.PersistentVolumeClaimList
	err := c.List(ctx, &list, client.InNamespace(o.Set.Namespace))
	if apierrors.IsForbidden(err) {
		p.note("you may not list persistentvolumeclaims, so claims are left out")
		o.Set = o.Set.DeepCopy()
		o.Set.Spec.VolumeClaimTemplates = nil
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("listing the claims of %s/%s: %w", resource, o.Set.Name, err)
	}
	for i := range list.Items {
		o.Claims[list.Items[i].Name] = &list.Items[i]
	}
	return o, nil
}

// maxReads is how often a plan may ask for live reads.
const maxReads = 3

// complete adds what the planner wants to have read live, as the operator does it.
func (p *Program) complete(ctx context.Context, c client.Client, o plan.Observation) (plan.Observation, error) {
	observer := observe.New(observe.Sources{Cached: c, Live: c, DryRun: c, Now: p.Now}, o.Gates)
	for range maxReads {
		needs := planner.Compute(o).NeedsLiveRead
		if !needs.Any() {
			return o, nil
		}
		var err error
		if o, err = observer.Complete(ctx, o, needs); err != nil {
			return o, err
		}
	}
	return o, nil
}

// readEvents returns the events of the namespace; none if the user may not read them.
func (p *Program) readEvents(ctx context.Context, c client.Reader, namespace string) ([]*corev1.Event, error) {
	var list corev1.EventList
	err := c.List(ctx, &list, client.InNamespace(namespace))
	if apierrors.IsForbidden(err) {
		p.note("you may not list events, so some details are missing")
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the events of namespace %s: %w", namespace, err)
	}
	events := make([]*corev1.Event, 0, len(list.Items))
	for i := range list.Items {
		events = append(events, &list.Items[i])
	}
	return events, nil
}

// readNodes returns the nodes of pods by name, nil for one that does not exist. Few users may read nodes, so that one who
// may not is not told.
func (p *Program) readNodes(ctx context.Context, c client.Reader, pods []*corev1.Pod) (map[string]*corev1.Node, error) {
	nodes := map[string]*corev1.Node{}
	for _, pod := range pods {
		name := pod.Spec.NodeName
		if _, known := nodes[name]; name == "" || known {
			continue
		}
		node := &corev1.Node{}
		switch err := c.Get(ctx, client.ObjectKey{Name: name}, node); {
		case err == nil:
			nodes[name] = node
		case apierrors.IsNotFound(err):
			nodes[name] = nil
		case apierrors.IsForbidden(err):
			return nil, nil
		default:
			return nil, fmt.Errorf("reading node %s: %w", name, err)
		}
	}
	return nodes, nil
}

// note tells the user something beside the answer.
func (p *Program) note(format string, args ...any) {
	fmt.Fprintf(p.ErrOut, "note: "+format+"\n", args...)
}

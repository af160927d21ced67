package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/handover"
	"github.com/rollcall-dev/rollcall/internal/observe"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
)

// adoption moves sets of apps/v1 to Rollcall.
type adoption struct {
	mover
	all bool
}

func newAdoptCommand(p *Program) *cobra.Command {
	a := &adoption{mover: mover{Program: p}}
	command := &cobra.Command{
		Use:   "adopt (NAME | --all)",
		Short: "Take over a StatefulSet of apps/v1; no pod restarts",
		Long: "Have Rollcall take over a StatefulSet of apps/v1 with its pods, claims and history. No pod restarts.\n\n" +
			"First everything is checked, and nothing is done if any pod would be restarted. Then the set is created with\n" +
			"apiVersion apps.rollcall.dev/v1, where it waits; the one of apps/v1 is deleted with its pods left running;\n" +
			"and Rollcall takes them over. Interrupted at any point, the same command goes on where it was.\n\n" +
			"\"kubectl rollcall release\" is the way back.",
		Example: "  # See what would happen\n" +
			"  kubectl rollcall adopt web --dry-run\n\n" +
			"  # Take it over\n" +
			"  kubectl rollcall adopt web\n\n" +
			"  # Take over all StatefulSets of a namespace, without being asked\n" +
			"  kubectl rollcall adopt --all -n databases --yes",
		Args:              between(0, "NAME"),
		ValidArgsFunction: p.completeBuiltIn,
		RunE:              func(command *cobra.Command, args []string) error { return a.run(command.Context(), args) },
	}
	a.addFlags(command)
	command.Flags().BoolVar(&a.all, "all", false, "Take over all StatefulSets of apps/v1 in the namespace.")
	return command
}

func (a *adoption) run(ctx context.Context, args []string) error {
	if a.all == (len(args) > 0) {
		return failf("say which StatefulSet to adopt, or --all of them: see \"kubectl rollcall adopt --help\"")
	}
	if err := a.connect(); err != nil {
		return err
	}
	if a.all {
		return a.adoptAll(ctx)
	}
	key, err := a.key(builtIn, args[0])
	if err != nil {
		return err
	}
	return a.adoptOne(ctx, key)
}

func (a *adoption) adoptOne(ctx context.Context, key client.ObjectKey) error {
	s, err := a.read(ctx, key)
	if err != nil {
		return err
	}
	if s.BuiltIn == nil && s.Ours != nil && !a.isUnderWay(s) {
		fmt.Fprintf(a.Out, "%s is a StatefulSet of %s already\n", key.Name, v1.GroupName)
		return nil
	}
	if err := a.prepare(ctx, a, key); err != nil || a.dryRun {
		return err
	}
	if !a.isUnderWay(s) {
		if err := a.isAgreed(fmt.Sprintf("Adopt %s/%s?", builtInResource, key.Name)); err != nil {
			return err
		}
	}
	return a.move(ctx, a, key)
}

// adoptAll adopts every set that can be, and fails if one can't.
func (a *adoption) adoptAll(ctx context.Context) error {
	namespace, err := a.namespace()
	if err != nil {
		return err
	}
	keys, failed, err := a.candidates(ctx, namespace)
	if err != nil {
		return err
	}
	if len(keys) > 0 && !a.dryRun {
		question := fmt.Sprintf("Adopt %s of namespace %s?", counted(len(keys), "StatefulSet", "StatefulSets"), namespace)
		if err := a.isAgreed(question); err != nil {
			return err
		}
		for _, key := range keys {
			if err := a.move(ctx, a, key); err != nil {
				return err
			}
		}
	}
	if failed > 0 {
		return failf("%s of namespace %s can't be adopted as said above", counted(failed, "StatefulSet", "StatefulSets"), namespace)
	}
	return nil
}

// candidates checks all sets of a namespace, those included that an earlier run left on the way.
func (a *adoption) candidates(ctx context.Context, namespace string) (keys []client.ObjectKey, failed int, err error) {
	all, err := a.names(ctx, namespace)
	if err != nil {
		return nil, 0, err
	}
	if len(all) == 0 {
		fmt.Fprintf(a.Out, "there is no StatefulSet of apps/v1 in namespace %s\n", namespace)
	}
	for _, key := range all {
		err := a.prepare(ctx, a, key)
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(a.ErrOut, "%s/%s: %s\n", builtInResource, key.Name, describe(err))
			failed++
			continue
		}
		keys = append(keys, key)
	}
	return keys, failed, nil
}

// names lists the sets to adopt.
func (a *adoption) names(ctx context.Context, namespace string) ([]client.ObjectKey, error) {
	var theirs appsv1.StatefulSetList
	var ours v1.StatefulSetList
	for _, list := range []client.ObjectList{&theirs, &ours} {
		if err := a.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("listing StatefulSets of namespace %s: %w", namespace, err)
		}
	}
	var keys []client.ObjectKey
	isListed := map[string]bool{}
	for i := range theirs.Items {
		keys = append(keys, client.ObjectKeyFromObject(&theirs.Items[i]))
		isListed[theirs.Items[i].Name] = true
	}
	for i := range ours.Items {
		if _, isMarked := ours.Items[i].Annotations[handover.Mark]; isMarked && !isListed[ours.Items[i].Name] {
			keys = append(keys, client.ObjectKeyFromObject(&ours.Items[i]))
		}
	}
	return keys, nil
}

func (a *adoption) read(ctx context.Context, key client.ObjectKey) (handover.Situation, error) {
	s, stored, err := a.readSituation(ctx, key)
	if err != nil || stored == nil {
		return s, err
	}
	converted, err := handover.FromBuiltIn(stored)
	if err != nil {
		return s, failf("%v: it can't be adopted", err)
	}
	s.Converted = handover.Marked(converted, s.BuiltIn)
	return s, nil
}

func (a *adoption) next(s handover.Situation) handover.Step { return handover.Adopt(s) }

// isUnderWay: the one of apps/v1 is deleted, so Rollcall takes over in any case.
func (a *adoption) isUnderWay(s handover.Situation) bool {
	if s.Ours == nil {
		return false
	}
	_, isMarked := s.Ours.Annotations[handover.Mark]
	return isMarked && (s.BuiltIn == nil || s.BuiltIn.DeletionTimestamp != nil)
}

// check asks everybody who might object: the rules, the API server, and the planner.
func (a *adoption) check(ctx context.Context, s handover.Situation) ([]string, error) {
	if err := a.objection(handover.AgainstAdoption(s)); err != nil {
		return nil, err
	}
	if err := a.askServer(ctx, &s); err != nil {
		return nil, err
	}
	todo, err := a.preview(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := a.objection(handover.AgainstPlan(todo, s.BuiltIn)); err != nil {
		return nil, err
	}
	notes := []string{describeSituation(builtInResource+"/"+s.BuiltIn.Name, s, handover.AgainstAdoption(s))}
	for _, keeper := range handover.Keepers(s.BuiltIn) {
		notes = append(notes, "warning: "+keeper)
	}
	return append(notes, a.pointers(ctx, s.BuiltIn, v1.GroupVersion.String())...), nil
}

// objection makes an error of what speaks against a move, if it does.
func (m *mover) objection(objection *handover.Objection) error {
	if objection == nil || objection.IsUpdate && m.continuesUpdate {
		return nil
	}
	return failf("%s", objection.Text)
}

// askServer has the API server judge all that is going to be asked of it.
func (a *adoption) askServer(ctx context.Context, s *handover.Situation) error {
	if s.Ours == nil {
		answer := s.Converted.DeepCopy()
		if err := a.client.Create(ctx, answer, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
			return refused(fmt.Sprintf("%s/%s can't be created", resource, answer.Name), err)
		}
		s.Converted = answer
	}
	if err := a.client.Delete(ctx, s.BuiltIn.DeepCopy(), client.DryRunAll, client.PropagationPolicy("Orphan")); err != nil {
		return refused(fmt.Sprintf("%s/%s can't be deleted", builtInResource, s.BuiltIn.Name), err)
	}
	return nil
}

// preview is what the operator would do as soon as it is in charge.
func (a *adoption) preview(ctx context.Context, s handover.Situation) (plan.Plan, error) {
	observation := handover.Preview(s, a.Now())
	todo := planner.Compute(observation)
	if !todo.NeedsLiveRead.Any() {
		return todo, nil
	}
	// Only templates are ever missing: the set and the pods are what they will be.
	reader := observe.New(observe.Sources{Live: a.client, DryRun: a.client, Now: a.Now}, plan.AllGates())
	observation, err := reader.Complete(ctx, observation, plan.LiveReads{Templates: true})
	if err != nil {
		return plan.Plan{}, err
	}
	observation.Live.Pods = true
	return planner.Compute(observation), nil
}

// withdraw deletes ours again if it has taken over nothing and theirs is still in charge.
func (a *adoption) withdraw(ctx context.Context, s handover.Situation) bool {
	if s.Ours == nil || s.BuiltIn == nil || s.BuiltIn.DeletionTimestamp != nil {
		return false
	}
	if _, isMarked := s.Ours.Annotations[handover.Mark]; !isMarked {
		return false
	}
	if err := a.client.Delete(ctx, s.Ours, exactlyThis(s.Ours)); err != nil {
		return false
	}
	fmt.Fprintf(a.Out, "%s/%s is removed again\n", resource, s.Ours.Name)
	return true
}

// completeBuiltIn proposes the names of sets of apps/v1 for the first argument.
func (p *Program) completeBuiltIn(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.propose(command.Context(), func(ctx context.Context, c client.Client) ([]string, error) {
		namespace, err := p.namespace()
		if err != nil {
			return nil, err
		}
		var sets appsv1.StatefulSetList
		err = c.List(ctx, &sets, client.InNamespace(namespace))
		names := make([]string, 0, len(sets.Items))
		for i := range sets.Items {
			names = append(names, sets.Items[i].Name)
		}
		return names, err
	})
}

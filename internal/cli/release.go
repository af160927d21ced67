package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/internal/handover"
)

// release moves sets of Rollcall back to apps/v1.
type release struct {
	mover
	dropsUnsupported bool
}

func newReleaseCommand(p *Program) *cobra.Command {
	r := &release{mover: mover{Program: p}}
	command := &cobra.Command{
		Use:   "release NAME",
		Short: "Give a StatefulSet back to apps/v1; no pod restarts",
		Long: "Have apps/v1 take a StatefulSet over again, with its pods, claims and history. No pod restarts.\n\n" +
			"First everything is checked, and nothing is done if any pod would be restarted, or if the set uses what\n" +
			"apps/v1 can't express. Then the set is deleted with its pods left running, but held until the one of apps/v1\n" +
			"is created and has taken over. Interrupted at any point, the same command goes on where it was; in between,\n" +
			"nobody replaces a pod that fails, so do not leave it there. Rollcall's controller need not run.",
		Example: "  # See what would happen\n" +
			"  kubectl rollcall release web --dry-run\n\n" +
			"  # Give it back\n" +
			"  kubectl rollcall release web\n\n" +
			"  # Give it back without its progress timeout, which apps/v1 does not have\n" +
			"  kubectl rollcall release web --drop-unsupported",
		Args:              exactly("NAME"),
		ValidArgsFunction: p.completeSets,
		RunE:              func(command *cobra.Command, args []string) error { return r.run(command.Context(), args[0]) },
	}
	r.addFlags(command)
	command.Flags().BoolVar(&r.dropsUnsupported, "drop-unsupported", false, "Leave away what apps/v1 can't express.")
	return command
}

func (r *release) run(ctx context.Context, argument string) error {
	if err := r.connect(); err != nil {
		return err
	}
	key, err := r.key(ours, argument)
	if err != nil {
		return err
	}
	s, err := r.read(ctx, key)
	if err != nil {
		return err
	}
	if s.Ours == nil && s.BuiltIn != nil {
		fmt.Fprintf(r.Out, "%s is a StatefulSet of apps/v1 already\n", key.Name)
		return nil
	}
	if err := r.prepare(ctx, r, key); err != nil || r.dryRun {
		return err
	}
	if !r.isUnderWay(s) {
		if err := r.isAgreed(fmt.Sprintf("Release %s/%s to apps/v1?", resource, key.Name)); err != nil {
			return err
		}
	}
	return r.move(ctx, r, key)
}

// read asks the API server what it would make of ours as a set of apps/v1, for as long as there is none.
func (r *release) read(ctx context.Context, key client.ObjectKey) (handover.Situation, error) {
	s, _, err := r.readSituation(ctx, key)
	if err != nil || s.Ours == nil || s.BuiltIn != nil {
		return s, err
	}
	answer, _, err := handover.ToBuiltIn(s.Ours)
	if err != nil {
		return s, err
	}
	if err := r.client.Create(ctx, answer, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
		return s, refused(fmt.Sprintf("%s/%s can't be created", builtInResource, answer.Name), err)
	}
	s.Answer = answer
	return s, nil
}

func (r *release) next(s handover.Situation) handover.Step { return handover.Release(s) }

// isUnderWay: ours is deleted and held, so there is no way but forward.
func (r *release) isUnderWay(s handover.Situation) bool {
	return s.Ours != nil && s.Ours.DeletionTimestamp != nil
}

// check asks the rules and the API server.
func (r *release) check(ctx context.Context, s handover.Situation) ([]string, error) {
	if err := r.objection(handover.AgainstRelease(s)); err != nil {
		return nil, err
	}
	_, lost, err := handover.ToBuiltIn(s.Ours)
	if err != nil {
		return nil, err
	}
	lost = append(lost, handover.Dropped(s.Ours, s.Answer)...)
	if len(lost) > 0 && !r.dropsUnsupported {
		return nil, failf("apps/v1 can't express %s: change the set, or leave it away with --drop-unsupported", strings.Join(lost, ", "))
	}
	if err := r.askServer(ctx, s); err != nil {
		return nil, err
	}
	notes := []string{describeSituation(resource+"/"+s.Ours.Name, s, handover.AgainstRelease(s))}
	for _, field := range lost {
		notes = append(notes, "warning: apps/v1 does not have "+field)
	}
	for _, keeper := range handover.Keepers(s.Ours) {
		notes = append(notes, "warning: "+keeper)
	}
	return append(notes, r.pointers(ctx, s.Ours, appsv1.SchemeGroupVersion.String())...), nil
}

// askServer has the API server judge all that is going to be asked of it.
func (r *release) askServer(ctx context.Context, s handover.Situation) error {
	if err := r.client.Update(ctx, s.Ours.DeepCopy(), client.DryRunAll); err != nil {
		return refused(fmt.Sprintf("%s/%s can't be held", resource, s.Ours.Name), err)
	}
	if err := r.client.Delete(ctx, s.Ours.DeepCopy(), client.DryRunAll, client.PropagationPolicy("Orphan")); err != nil {
		return refused(fmt.Sprintf("%s/%s can't be deleted", resource, s.Ours.Name), err)
	}
	replaced := handover.Replaced(s)
	if replaced == nil {
		return nil
	}
	if err := r.client.Delete(ctx, replaced.DeepCopy(), client.DryRunAll); err != nil {
		return refused(fmt.Sprintf("controllerrevision.apps/%s, which has to be recorded as apps/v1 writes it, can't be deleted", replaced.Name), err)
	}
	return nil
}

// withdraw takes the finalizer off again if ours is still in charge.
func (r *release) withdraw(ctx context.Context, s handover.Situation) bool {
	if s.Ours == nil || s.Ours.DeletionTimestamp != nil {
		return false
	}
	freed, isHeld := handover.Freed(s.Ours)
	return isHeld && r.client.Update(ctx, freed) == nil
}

package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/handover"
)

const (
	// moveTimeout is how long a move may take by default. A healthy one takes seconds.
	moveTimeout = 5 * time.Minute
	// moveInterval is how often somebody else's work is looked at.
	moveInterval = 200 * time.Millisecond
)

// mover moves sets between apps/v1 and Rollcall, step by step. What the steps are is for internal/handover to say.
type mover struct {
	*Program
	client client.Client
	// dryRun checks and tells, and changes nothing.
	dryRun bool
	// isConfirmed: nobody is asked.
	isConfirmed bool
	// continuesUpdate: an update that is under way is no reason not to move.
	continuesUpdate bool
	timeout         time.Duration
}

// direction is what distinguishes the two verbs.
type direction interface {
	// read returns all that the move of a set depends on.
	read(ctx context.Context, key client.ObjectKey) (handover.Situation, error)
	// next says what to do next.
	next(s handover.Situation) handover.Step
	// check refuses what can't be moved without harm, and returns what should be known beforehand.
	check(ctx context.Context, s handover.Situation) (notes []string, err error)
	// isUnderWay tells whether an earlier run got so far that nothing is left to ask.
	isUnderWay(s handover.Situation) bool
	// withdraw takes back what was done if the set can't be moved after all, and tells whether all is as it was.
	withdraw(ctx context.Context, s handover.Situation) bool
}

func (m *mover) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVar(&m.dryRun, "dry-run", false, "Check and tell what would be done, and change nothing.")
	flags.BoolVarP(&m.isConfirmed, "yes", "y", false, "Do not ask.")
	flags.BoolVar(&m.continuesUpdate, "continue-update", false, "Move also while an update is under way; it goes on afterwards, and replaces pods.")
	flags.DurationVar(&m.timeout, "timeout", moveTimeout, "Give up after this time, as in 90s or 10m. The same command goes on where it was.")
}

// connect must be called before anything else.
func (m *mover) connect() (err error) {
	if m.timeout <= 0 {
		return failf("--timeout must be positive")
	}
	m.client, err = m.Program.client()
	return err
}

// prepare checks whether a set can be moved and says what there is to know. Without an error the set may be moved.
func (m *mover) prepare(ctx context.Context, d direction, key client.ObjectKey) error {
	s, err := d.read(ctx, key)
	if err != nil {
		return err
	}
	if s.BuiltIn == nil && s.Ours == nil {
		return failf("there is no StatefulSet %q in namespace %s, neither of apps/v1 nor of %s", key.Name, key.Namespace, v1.GroupName)
	}
	if step := d.next(s); step.Verb == handover.Refuse {
		return failf("%s", step.Text)
	}
	if d.isUnderWay(s) {
		return nil
	}
	notes, err := d.check(ctx, s)
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(m.Out, note)
	}
	return nil
}

// isAgreed asks, unless that was done.
func (m *mover) isAgreed(question string) error {
	if m.isConfirmed {
		return nil
	}
	fmt.Fprintf(m.Out, "%s [y/N] ", question)
	answer, err := bufio.NewReader(m.In).ReadString('\n')
	if err != nil && answer == "" {
		fmt.Fprintln(m.Out)
		return failf("nobody is there to answer, so nothing was changed: say --yes, or look first with --dry-run")
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	default:
		return failf("nothing was changed")
	}
}

// move does what is next until nothing is left to do, and compares the pods of before with those of after.
func (m *mover) move(ctx context.Context, d direction, key client.ObjectKey) error {
	limited, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	before, err := d.read(limited, key)
	if err != nil {
		return err
	}
	after, err := m.walk(limited, d, key)
	if err != nil {
		return m.abandoned(ctx, limited, d, key, err)
	}
	return m.report(before, after, key)
}

// walk takes one step after the other, and returns the situation in the end.
func (m *mover) walk(ctx context.Context, d direction, key client.ObjectKey) (handover.Situation, error) {
	awaited := ""
	for {
		s, err := d.read(ctx, key)
		if err != nil && ctx.Err() != nil {
			return s, stalled{what: awaited}
		}
		if err != nil {
			return s, err
		}
		step := d.next(s)
		awaited = ""
		switch step.Verb {
		case handover.Finish:
			return s, nil
		case handover.Refuse:
			return s, failf("%s", step.Text)
		case handover.Wait:
			awaited = step.Text
			err = m.pause(ctx, awaited)
		default:
			err = m.take(ctx, d, s, step)
		}
		if err != nil {
			return s, err
		}
	}
}

// take does a step that writes. Before the one after which there is no way back all is checked once more, because time
// has passed. Whatever has changed at the API server since the situation was read is no failure: it is read anew.
func (m *mover) take(ctx context.Context, d direction, s handover.Situation, step handover.Step) error {
	if step.Verb == handover.Orphan && !d.isUnderWay(s) {
		if _, err := d.check(ctx, s); err != nil {
			return err
		}
	}
	err := m.write(ctx, step)
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err) && !isUnknownResource(err):
		return m.pause(ctx, "")
	case err != nil:
		return fmt.Errorf("%s %s: %w", step.Verb, step.Object.GetName(), err)
	}
	fmt.Fprintln(m.Out, step.Text)
	return nil
}

func (m *mover) write(ctx context.Context, step handover.Step) error {
	switch step.Verb {
	case handover.Create:
		return m.client.Create(ctx, step.Object, client.FieldValidation("Strict"))
	case handover.Update:
		return m.client.Update(ctx, step.Object)
	case handover.UpdateStatus:
		return m.client.Status().Update(ctx, step.Object)
	case handover.Orphan:
		return m.client.Delete(ctx, step.Object, exactlyThis(step.Object), client.PropagationPolicy("Orphan"))
	case handover.Delete:
		return m.client.Delete(ctx, step.Object, exactlyThis(step.Object))
	case handover.Wait, handover.Refuse, handover.Finish:
	}
	return fmt.Errorf("%q is no step that writes", step.Verb) // a mistake in the program
}

// exactlyThis lets a delete succeed only if nothing has changed since the object was read.
func exactlyThis(object client.Object) client.Preconditions {
	uid, version := object.GetUID(), object.GetResourceVersion()
	return client.Preconditions{UID: &uid, ResourceVersion: &version}
}

// stalled says what was waited for when the time was up.
type stalled struct{ what string }

func (e stalled) Error() string { return "waiting for " + e.what }

func (m *mover) pause(ctx context.Context, what string) error {
	timer := time.NewTimer(moveInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return stalled{what: what}
	}
}

// refused says what the API server would not do. An answer that is about the request is put into words here; anything
// else is trouble of the general kind.
func refused(what string, err error) error {
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return failf("%s: %s", what, rootMessage(err))
	}
	return fmt.Errorf("%s: %w", what, err)
}

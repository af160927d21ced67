package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/internal/handover"
)

// report tells whether any pod of before is another one now, or has restarted.
func (m *mover) report(before, after handover.Situation, key client.ObjectKey) error {
	known := map[types.UID]int32{}
	for _, pod := range after.Pods {
		known[pod.UID] = restarts(pod)
	}
	var touched []string
	for _, pod := range before.Pods {
		if count, isThere := known[pod.UID]; !isThere || count != restarts(pod) {
			touched = append(touched, pod.Name)
		}
	}
	if len(touched) > 0 {
		fmt.Fprintf(m.Out, "%s: done; meanwhile restarted or replaced: %s\n", key.Name, strings.Join(touched, ", "))
		return nil
	}
	fmt.Fprintf(m.Out, "%s: done; %s on, none was restarted\n", key.Name, counted(len(after.Pods), "pod runs", "pods run"))
	return nil
}

func restarts(pod *corev1.Pod) int32 {
	count := int32(0)
	for i := range pod.Status.ContainerStatuses {
		count += pod.Status.ContainerStatuses[i].RestartCount
	}
	return count
}

// abandoned says how to go on after a failure in the middle. What the rules or the clock ended is taken back if it can be.
func (m *mover) abandoned(ctx, limited context.Context, d direction, key client.ObjectKey, err error) error {
	waited, known := stalled{}, (*failure)(nil)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(m.ErrOut, "interrupted: the same command goes on where it was")
		return ctx.Err()
	case limited.Err() != nil:
		text := fmt.Sprintf("gave up after %s", m.timeout)
		if errors.As(err, &waited) && waited.what != "" {
			text += ", " + waited.Error()
		}
		return &failure{code: codeTimedOut, text: text + ": " + m.undo(ctx, d, key)}
	case errors.As(err, &known):
		m.undo(ctx, d, key)
		return err
	default:
		return fmt.Errorf("%w; the same command goes on where it was", err)
	}
}

// undoTimeout is how long taking back may take.
const undoTimeout = 15 * time.Second

// undo takes back what was done, if there is a way back, and says which it is.
func (m *mover) undo(ctx context.Context, d direction, key client.ObjectKey) string {
	ctx, cancel := context.WithTimeout(ctx, undoTimeout)
	defer cancel()
	if s, err := d.read(ctx, key); err == nil && d.withdraw(ctx, s) {
		return "nothing was changed"
	}
	return "the same command goes on where it was"
}

// describeSituation counts what is moved and says what becomes of the pods. An objection that was overruled is that an
// update is under way.
func describeSituation(name string, s handover.Situation, overruled *handover.Objection) string {
	outlook := "no pod has to be restarted"
	if overruled != nil {
		outlook = "the update that is under way goes on afterwards"
	}
	return fmt.Sprintf("%s: %s, %s, %s; %s", name, counted(len(s.Pods), "pod", "pods"),
		counted(len(s.Claims), "claim", "claims"), counted(len(s.Revisions), "revision", "revisions"), outlook)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

package handover

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Objection is a reason not to move a set now.
type Objection struct {
	Text string
	// IsUpdate: it is that an update is under way, which the new controller would
	// go on with.
	IsUpdate bool
}

// AgainstAdoption says what speaks against adopting; nil if nothing does.
func AgainstAdoption(s Situation) *Objection {
	set := s.BuiltIn
	switch owner := metav1.GetControllerOf(set); {
	case set.DeletionTimestamp != nil:
		return objectf("%s%s is being deleted", builtInName, set.Name)
	case owner != nil:
		return objectf("%s %s controls %s%s and would create it again: it is for that operator to make sets of %s", owner.Kind, owner.Name, builtInName, set.Name, v1.GroupName)
	case set.Status.ObservedGeneration < set.Generation || set.Status.UpdateRevision == "":
		return objectf("the controller of apps/v1 has not seen the latest change of %s%s: wait a moment", builtInName, set.Name)
	}
	return s.againstUpdate(s.Converted, set.Status.UpdateRevision)
}

// AgainstRelease says what speaks against releasing; nil if nothing does.
func AgainstRelease(s Situation) *Objection {
	set := s.Ours
	switch owner := metav1.GetControllerOf(set); {
	case set.DeletionTimestamp != nil && !hasFinalizer(set, Finalizer):
		return objectf("%s%s is being deleted", oursName, set.Name)
	case set.DeletionTimestamp != nil:
		return nil // past the point of no return
	case owner != nil:
		return objectf("%s %s controls %s%s and would create it again: it is for that operator to make sets of apps/v1", owner.Kind, owner.Name, oursName, set.Name)
	case set.Status.ObservedGeneration < set.Generation || set.Status.UpdateRevision == "":
		return objectf("the controller of Rollcall has not seen the latest change of %s%s: wait a moment", oursName, set.Name)
	}
	plain, _ := withoutExtensions(set.Spec.DeepCopy())
	return s.againstUpdate(&v1.StatefulSet{ObjectMeta: set.ObjectMeta, Spec: *plain}, set.Status.UpdateRevision)
}

// againstUpdate objects to pods that an update has yet to replace, by the rules
// of the set as it will be.
func (s Situation) againstUpdate(set *v1.StatefulSet, target string) *Objection {
	if set.Spec.UpdateStrategy.Type == v1.OnDeleteStrategy {
		return nil
	}
	slots := ordinal.RangeOf(set)
	first := slots.Start
	if tuning := set.Spec.UpdateStrategy.RollingUpdate; tuning != nil && tuning.Partition != nil {
		first += int(*tuning.Partition)
	}
	var outdated []string
	for _, pod := range s.Pods {
		number, isNamed := ordinal.Parse(set.Name, pod.Name)
		if isNamed && slots.Contains(number) && number >= first && pod.Labels[v1.RevisionLabel] != target {
			outdated = append(outdated, pod.Name)
		}
	}
	if len(outdated) == 0 {
		return nil
	}
	return &Objection{
		IsUpdate: true,
		Text: fmt.Sprintf("an update is under way: %s not at revision %s yet and would be replaced; wait for it, or have it gone on with by --continue-update",
			are(outdated), target),
	}
}

// AgainstPlan objects to what the planner would do to pods once it is in charge.
func AgainstPlan(todo plan.Plan, builtIn *appsv1.StatefulSet) *Objection {
	for _, step := range todo.Steps {
		for _, lane := range step.Lanes {
			for _, action := range lane {
				if objection := againstAction(action, builtIn); objection != nil {
					objection.IsUpdate = step.Purpose == plan.PurposeUpdate
					return objection
				}
			}
		}
	}
	if got, want := todo.Status.UpdateRevision, builtIn.Status.UpdateRevision; got != want {
		return objectf("the template would be taken for revision %s, not %s, and every pod would be restarted", got, want)
	}
	return nil
}

func againstAction(action plan.Action, builtIn *appsv1.StatefulSet) *Objection {
	switch a := action.(type) {
	case plan.DeletePod:
		return objectf("pod %s would be deleted: %s", a.Pod.Name, a.Reason)
	case plan.CreateRevision:
		return objectf("the template of %s%s would not be recognized as revision %s, and every pod would be restarted",
			oursName, builtIn.Name, builtIn.Status.UpdateRevision)
	default:
		return nil
	}
}

func objectf(format string, args ...any) *Objection {
	return &Objection{Text: fmt.Sprintf(format, args...)}
}

// are says that things are, whether one or many.
func are(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

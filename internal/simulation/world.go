package simulation

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// World is one situation. It is a value: what a step changes is replaced, never
// modified, so a copy stays as it is.
type World struct {
	Scenario *Scenario
	Now      time.Time
	// Truth is what the API server stores.
	Truth Store
	// Controller is the operator's process.
	Controller Controller
	// Ledger is what the properties need to know of the past.
	Ledger Ledger
	// Edits is how many of the scenario's edits were made.
	Edits int
	// Mishaps and Faults are how many happened.
	Mishaps, Faults int

	// versions and uids number what the API server hands out.
	versions, uids int
	// deadlines follow from the scenario.
	deadlines deadlines
	// foreseen is what the controller would decide here, if that is known.
	foreseen *Decision
}

// epoch is when all worlds begin.
var epoch = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

const (
	setName   = "web"
	namespace = "shop"
)

// version hands out a resourceVersion.
func (w *World) version() string {
	w.versions++
	return strconv.Itoa(w.versions)
}

func (w *World) uid() types.UID {
	w.uids++
	return types.UID("uid-" + strconv.Itoa(w.uids))
}

// register makes an object one that the API server has just accepted.
func (w *World) register(meta *metav1.ObjectMeta) {
	meta.UID, meta.ResourceVersion, meta.CreationTimestamp = w.uid(), w.version(), metav1.NewTime(w.Now)
}

// slots is the range that the stored set asks for; empty if there is no set.
func (w *World) slots() ordinal.Range {
	if w.Truth.Set == nil {
		return ordinal.Range{}
	}
	return ordinal.RangeOf(w.Truth.Set)
}

// stateOf classifies a stored pod now, nil meaning that there is none.
func (w *World) stateOf(pod *corev1.Pod) podstate.State {
	var minReady time.Duration
	if w.Truth.Set != nil {
		minReady = minReadyOf(w.Truth.Set)
	}
	return podstate.Classify(pod, minReady, w.Now)
}

func minReadyOf(set *v1.StatefulSet) time.Duration {
	return time.Duration(set.Spec.MinReadySeconds) * time.Second
}

// podOf returns the stored pod of an ordinal, or nil.
func (w *World) podOf(number int) *corev1.Pod {
	return find(w.Truth.Pods, ordinal.PodName(setName, number))
}

// isControlledBy tells whether an object's controller is the one with a UID.
func isControlledBy(object metav1.Object, uid types.UID) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.UID == uid
}

// settle ends a step: views that do not lag follow the truth, and the ledger is
// brought up to date.
func (w *World) settle() {
	for _, kind := range kinds {
		if !w.Scenario.lags(kind) {
			w.see(kind)
		}
	}
	w.Ledger.refresh(w)
}

// see brings the controller's view of a kind up to date.
func (w *World) see(kind Kind) {
	view := &w.Controller.View
	if !view.shows(kind, w.Truth) {
		w.Controller.Before.take(kind, *view)
		view.take(kind, w.Truth)
	}
}

package simulation

import (
	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// What a process does is explored as whole plans. These are its single writes, for
// those who want to hold the model's answers against the real API server's: see
// test/conformance.

// Perform lets the process carry out one action in a world, which stays as it is.
// The error is what the process is told.
func Perform(before *World, action plan.Action) (*World, error) {
	after := *before
	after.foreseen = nil
	err := after.act(action, Reconcile)
	after.settle()
	return &after, err
}

// WriteStatus lets the process write the status of the set as it observed it.
func WriteStatus(before *World, observed *v1.StatefulSet, status v1.StatefulSetStatus) (*World, error) {
	after := *before
	after.foreseen = nil
	_, err := after.writeStatus(observed, status, Reconcile)
	after.settle()
	return &after, err
}

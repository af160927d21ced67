package testkit

import (
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// IgnoreTexts compares plans by what they do and why, not by how it is said:
// texts of reasons, messages of conditions and events are left out.
var IgnoreTexts = cmp.Options{
	cmpopts.IgnoreFields(plan.Reason{}, "Text"),
	cmpopts.IgnoreFields(plan.Event{}, "Message"),
	cmpopts.IgnoreFields(metav1.Condition{}, "Message"),
}

// IgnoreTimes leaves out when conditions changed.
var IgnoreTimes = cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")

package plan

import "fmt"

// Reason says why an action is taken: a code for programs and a text for people.
// The same text appears in the log, the event, the trace and the preview.
type Reason struct {
	Code ReasonCode
	Text string
}

// ReasonCode names a reason in CamelCase. It is a label of metrics.
type ReasonCode string

// The reasons there are.
const (
	// Orphaned objects match the set and have no controller.
	Orphaned ReasonCode = "Orphaned"
	// NotSelected pods no longer match the set's selector or bear no name of its.
	NotSelected ReasonCode = "NotSelected"
	// IdentityDrifted pods lost a label that is part of their identity.
	IdentityDrifted ReasonCode = "IdentityDrifted"
	// RetentionPolicy decides who owns a claim.
	RetentionPolicy ReasonCode = "RetentionPolicy"
	// ScaledDown pods are outside the range of ordinals.
	ScaledDown ReasonCode = "ScaledDown"
	// HistoryLimit is exceeded by revisions that nothing uses.
	HistoryLimit ReasonCode = "HistoryLimit"
	// TemplateChanged to one that no revision records yet.
	TemplateChanged ReasonCode = "TemplateChanged"
	// RolledBack means the template equals that of an older revision.
	RolledBack ReasonCode = "RolledBack"
	// NumberShared means that another revision has the number of the target.
	NumberShared ReasonCode = "NumberShared"
	// ClaimMissing holds up a pod.
	ClaimMissing ReasonCode = "ClaimMissing"
	// SlotMissing means that a slot has no pod.
	SlotMissing ReasonCode = "SlotMissing"
	// PodEnded means that all containers of a pod have ended, well or not.
	PodEnded ReasonCode = "PodEnded"
	// Outdated pods are replaced by an update within its budget.
	Outdated ReasonCode = "Outdated"
	// OutdatedUnavailable pods are replaced by an update at no cost.
	OutdatedUnavailable ReasonCode = "OutdatedUnavailable"
	// ForcedReplacement is the EnforcedRollingUpdate of a broken pod.
	ForcedReplacement ReasonCode = "ForcedReplacement"
	// Recreated pods make room for all the new ones at once.
	Recreated ReasonCode = "Recreated"
	// ProgressTimedOut pods have not become ready within podProgressTimeoutSeconds.
	ProgressTimedOut ReasonCode = "ProgressTimedOut"
)

// Because makes a reason from a code and a formatted text.
func Because(code ReasonCode, format string, args ...any) Reason {
	return Reason{Code: code, Text: fmt.Sprintf(format, args...)}
}

// String returns the text for people.
func (r Reason) String() string { return r.Text }

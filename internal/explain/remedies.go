package explain

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/planner"
)

// resource is the set as kubectl is told it.
func (s *situation) resource() string { return "rsts/" + s.set.Name }

// kubectl writes a command that works whatever namespace is the default.
func (s *situation) kubectl(format string, args ...any) string {
	return "kubectl -n " + s.set.Namespace + " " + fmt.Sprintf(format, args...)
}

// plugin writes a command of the plugin about the set.
func (s *situation) plugin(verb string) string {
	name, flags, _ := strings.Cut(verb, " ")
	return strings.TrimSpace(fmt.Sprintf("kubectl rollcall -n %s %s %s %s", s.set.Namespace, name, s.set.Name, flags))
}

func (s *situation) describePod(at slot) Remedy {
	return Remedy{"look closer", s.kubectl("describe pod %s", at.name)}
}

func (s *situation) logs(at slot, container string, previous bool) Remedy {
	command := s.kubectl("logs %s", at.name)
	if container != "" {
		command += " -c " + container
	}
	if previous {
		return Remedy{"read what it wrote before it ended", command + " --previous"}
	}
	return Remedy{"read what it writes", command}
}

// templateCodes are causes that another template mends.
var templateCodes = []Code{ImagePull, CrashLoop, ConfigError, ContainerWaiting, Unschedulable, NotReady, VolumeProblem}

// waysOut are what ends the standstill, as far as the set's template and strategy
// can: a broken pod of the target revision needs another template, a broken pod
// of an older one needs to go.
func (s *situation) waysOut(causes []Cause) []Remedy {
	newest, older := s.brokenByTemplate(causes)
	var remedies []Remedy
	switch {
	case len(newest) > 0 && s.isUpdating():
		remedies = append(remedies, s.correctTemplate()...)
		remedies = append(remedies, s.removeByHand(newest, "and remove what the broken template left behind, which is not replaced otherwise")...)
	case len(newest) > 0:
		remedies = append(remedies, s.correctTemplate()...)
	}
	return append(remedies, s.removeByHand(older, "remove what an earlier template left behind, which is not replaced otherwise")...)
}

// brokenByTemplate are the pods that a template is likely to have broken: at the
// target revision, and outdated ones.
func (s *situation) brokenByTemplate(causes []Cause) (newest, older []slot) {
	for _, at := range s.slots {
		isBroken := slices.ContainsFunc(causes, func(c Cause) bool {
			return c.Object == "pod/"+at.name && slices.Contains(templateCodes, c.Code)
		})
		switch {
		case isBroken && at.isOutdated:
			older = append(older, at)
		case isBroken && at.isReached:
			newest = append(newest, at)
		}
	}
	return newest, older
}

// correctTemplate is what mends a broken target revision.
func (s *situation) correctTemplate() []Remedy {
	edit := s.kubectl("edit %s", s.resource())
	if len(s.Observation.Revisions) > 1 && s.isUpdating() {
		return []Remedy{{"go back to the revision before", s.plugin("undo")}, {"or correct the template", edit}}
	}
	return []Remedy{{"if the template is to blame, correct it", edit}}
}

// removeByHand names the pods that somebody has to delete, where no rule does.
func (s *situation) removeByHand(broken []slot, text string) []Remedy {
	if len(broken) == 0 || s.replacesBroken() {
		return nil
	}
	var names []string
	for _, at := range broken {
		names = append(names, at.name)
	}
	remedies := []Remedy{{text, s.kubectl("delete pod %s", strings.Join(names, " "))}}
	if s.strategy() == v1.OnDeleteStrategy || s.set.Spec.Paused || !planner.GatesTold(s.set).ProgressDeadline {
		return remedies
	}
	patch := fmt.Sprintf(`'{"spec":{"updateStrategy":{"rollingUpdate":{"podProgressTimeoutSeconds":%d}}}}'`, s.suggestedTimeout())
	return append(remedies, Remedy{"or have pods that never become ready replaced from now on", s.kubectl("patch %s --type=merge -p %s", s.resource(), patch)})
}

// suggestedTimeout is ten minutes on top of what every pod is given anyway.
func (s *situation) suggestedTimeout() int32 {
	const patience = 600
	return patience + s.set.Spec.MinReadySeconds
}

// replacesBroken tells whether the strategy replaces broken outdated pods itself.
func (s *situation) replacesBroken() bool {
	switch s.strategy() {
	case v1.RecreateStrategy, v1.EnforcedRollingUpdateStrategy:
		return !s.set.Spec.Paused
	case v1.OnDeleteStrategy:
		return false
	default:
		return (s.isParallel() || s.timeout > 0) && !s.set.Spec.Paused
	}
}

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/view"
)

// treeHeading is the first row of a table of trees.
func treeHeading() []cell {
	return []cell{text("NAME"), text("STATE"), text("READY"), text("RESTARTS"), text("AGE"), text("DETAIL")}
}

// tree draws a set, beneath it its revisions in use, the target first, and beneath each of them its pods.
func tree(rollout view.Rollout) table {
	rows := table{{
		text(rollout.Name),
		{string(rollout.Phase), colorOfPhase(rollout.Phase)},
		text(fmt.Sprintf("%d/%d", rollout.Ready, rollout.Replicas)), text(""),
		text(age(rollout.Created, rollout.Now)), text(rollout.Why),
	}}
	branches := branchesOf(rollout)
	for i, branch := range branches {
		isLast := i == len(branches)-1
		rows = append(rows, branch.row(isLast, rollout))
		for j := range branch.pods {
			rows = append(rows, podRow(branch.pods[j], rollout, indent(isLast)+fork(j == len(branch.pods)-1)))
		}
	}
	return rows
}

// branch is a revision with the pods that run it, or should.
type branch struct {
	name     string
	revision *view.Revision
	pods     []view.Pod
}

// branchesOf sorts the pods by revision, the newest first. A slot without a pod goes where its pod will.
func branchesOf(rollout view.Rollout) []branch {
	pods := map[string][]view.Pod{}
	for i := range rollout.Pods {
		name := rollout.Pods[i].Revision.Name
		if name == "" {
			name = rollout.Target.Name
			if rollout.Pods[i].Role == view.Held {
				name = rollout.Current.Name
			}
		}
		pods[name] = append(pods[name], rollout.Pods[i])
	}
	var branches []branch
	for i, entry := range slices.Backward(rollout.Revisions) {
		if entry.IsTarget || entry.IsCurrent || len(pods[entry.Name]) > 0 {
			branches = append(branches, branch{entry.Name, &rollout.Revisions[i], pods[entry.Name]})
		}
		delete(pods, entry.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		branches = append(branches, branch{name: name, pods: pods[name]})
	}
	return branches
}

func (b branch) row(isLast bool, rollout view.Rollout) []cell {
	ready := 0
	for i := range b.pods {
		ready += count(b.pods[i].IsReady)
	}
	fraction := text(fmt.Sprintf("%d/%d", ready, len(b.pods)))
	if b.revision == nil {
		return []cell{text(fork(isLast) + b.name), text("not in the history"), fraction, text(""), text("-"), text("")}
	}
	return []cell{
		text(fmt.Sprintf("%srevision %s", fork(isLast), b.revision.RevisionRef)),
		{stateOf(*b.revision), colorOfRevision(*b.revision)},
		fraction, text(""),
		text(age(b.revision.Created, rollout.Now)), text(strings.Join(b.revision.Images, ",")),
	}
}

func podRow(pod view.Pod, rollout view.Rollout, prefix string) []cell {
	ready := "1/1"
	if !pod.IsReady {
		ready = "0/1"
	}
	state := pod.State
	if pod.Role == view.Condemned || pod.Role == view.Stranger {
		state += ", " + string(pod.Role)
	}
	return []cell{
		text(prefix + pod.Name),
		{state, colorOfPod(pod)},
		text(ready), text(restartsWord(pod)),
		text(age(pod.Created, rollout.Now)), text(pod.Reason),
	}
}

// fork is drawn before the name of a branch, indent before its twigs.
func fork(isLast bool) string {
	if isLast {
		return "└─ "
	}
	return "├─ "
}

func indent(isLast bool) string {
	if isLast {
		return "   "
	}
	return "│  "
}

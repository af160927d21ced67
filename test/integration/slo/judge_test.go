package slo

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mixtures names the pods of different revisions that existed at the same time.
func mixtures(lives []life) []string {
	var found []string
	for i, one := range lives {
		for _, other := range lives[i+1:] {
			if one.revision != other.revision && (one.ended.IsZero() || other.created.Before(one.ended)) {
				found = append(found, fmt.Sprintf("%s at %s and %s at %s", one.pod, one.revision, other.pod, other.revision))
			}
		}
	}
	return found
}

// taken names the pods below an ordinal that were deleted between two times.
func taken(lives []life, below int, from, until time.Time) []string {
	var found []string
	for _, l := range lives {
		if l.ordinal < below && l.deleted.After(from) && l.deleted.Before(until) {
			found = append(found, l.pod)
		}
	}
	return found
}

// tooEarly names the pods with an image that were deleted between two times without ever having been ready, and younger
// than the timeout. The watch takes a moment to show a new pod; slack is how long at most.
func tooEarly(lives []life, image string, timeout time.Duration, from, until time.Time) []string {
	const slack = 250 * time.Millisecond
	var found []string
	for _, l := range lives {
		isMeant := l.image == image && l.deleted.After(from) && (until.IsZero() || l.deleted.Before(until))
		if isMeant && l.ready.IsZero() && l.age() < timeout-slack {
			found = append(found, fmt.Sprintf("%s after %s", l.pod, l.age()))
		}
	}
	return found
}

// deletedReady names the pods with an image that were deleted although they had been ready.
func deletedReady(lives []life, image string) []string {
	var found []string
	for _, l := range lives {
		if l.image == image && !l.ready.IsZero() && !l.deleted.IsZero() {
			found = append(found, l.pod)
		}
	}
	return found
}

// successor returns the next life in the slot of a pod.
func successor(lives []life, of life) (life, bool) {
	for _, l := range lives {
		if l.pod == of.pod && l.created.After(of.created) {
			return l, true
		}
	}
	return life{}, false
}

// at is a time in the tests of the judges.
func at(second int) time.Time {
	if second < 0 {
		return time.Time{}
	}
	return time.Unix(int64(second), 0)
}

// liveBetween is a pod that was created, became ready, was told to go and was gone at these seconds; -1 for never.
func liveBetween(number int, revision string, created, ready, deleted, ended int) life {
	return life{
		pod: fmt.Sprintf("web-%d", number), ordinal: number, revision: revision, image: revision,
		created: at(created), ready: at(ready), deleted: at(deleted), ended: at(ended),
	}
}

// TestJudges shows that the judges condemn what they should, and nothing else: a judge that never does proves nothing.
func TestJudges(t *testing.T) {
	apart := []life{liveBetween(0, "a", 0, 1, 5, 6), liveBetween(1, "a", 2, 3, 5, 8), liveBetween(0, "b", 9, 10, -1, -1)}
	meeting := []life{liveBetween(0, "a", 0, 1, 5, 6), liveBetween(1, "a", 2, 3, 5, 8), liveBetween(0, "b", 7, 10, -1, -1)}
	stuck := []life{liveBetween(2, "b", 0, -1, 3, 4), liveBetween(2, "b", 5, -1, 6, 7), liveBetween(1, "b", 5, 6, 7, 8)}
	tests := map[string]struct {
		got, want []string
	}{
		"revisions apart":             {mixtures(apart), nil},
		"revisions meet":              {mixtures(meeting), []string{"web-1 at a and web-0 at b"}},
		"a revision that stays":       {mixtures([]life{apart[2], liveBetween(1, "c", 20, 21, -1, -1)}), []string{"web-0 at b and web-1 at c"}},
		"nothing below was taken":     {taken(stuck, 1, at(0), at(9)), nil},
		"something below was taken":   {taken(stuck, 2, at(0), at(9)), []string{"web-1"}},
		"but not in that time":        {taken(stuck, 2, at(0), at(6)), nil},
		"in time":                     {tooEarly(stuck, "b", time.Second, at(0), at(9)), nil},
		"too early":                   {tooEarly(stuck, "b", 3*time.Second, at(0), at(9)), []string{"web-2 after 1s"}},
		"too early, of another image": {tooEarly(stuck, "c", 3*time.Second, at(0), at(9)), nil},
		"ready and deleted":           {deletedReady(stuck, "b"), []string{"web-1"}},
		"ready and there":             {deletedReady(apart, "b"), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Errorf("condemned (-want +got):\n%s", diff)
			}
		})
	}
}

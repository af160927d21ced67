package testkit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

func TestFleet(t *testing.T) {
	set := MakeSet("web").Replicas(9).MinReady(60).Obj()
	notation := "0:a/available 1:b/ready 2:- 3:a/pending 4:a/crashing 5:a/unready 6:a/failed 7:a/succeeded 8:a/terminating 9:a/leaving"
	type row struct {
		Name, Revision string
		Class          podstate.Class
		WasReady       bool
	}
	var got []row
	for _, pod := range Fleet(set, notation) {
		class := podstate.Classify(pod, time.Minute, Now).Class
		got = append(got, row{pod.Name, Letters(set, pod.Labels[v1.RevisionLabel], "ab"), class, podstate.WasReady(pod)})
	}
	want := []row{
		{"web-0", "a", podstate.Available, true},
		{"web-1", "b", podstate.Ready, true},
		{"web-3", "a", podstate.Pending, false},
		{"web-4", "a", podstate.Running, false},
		{"web-5", "a", podstate.Running, true},
		{"web-6", "a", podstate.Failed, false},
		{"web-7", "a", podstate.Succeeded, false},
		{"web-8", "a", podstate.Terminating, false},
		{"web-9", "a", podstate.Terminating, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Fleet (-want +got):\n%s", diff)
	}
}

func TestFleetPanicsOnATypo(t *testing.T) {
	for _, notation := range []string{"web:a/available", "0:a/sleepy", "0"} {
		t.Run(notation, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("Fleet(%q) does not panic", notation)
				}
			}()
			Fleet(MakeSet("web").Obj(), notation)
		})
	}
}

func TestObserve(t *testing.T) {
	set := MakeSet("web").Replicas(1).Claims("data").Retention(v1.Retain, v1.Delete).Obj()
	o := Observe(set, "ab", "0:a/available 1:a/available")
	if diff := cmp.Diff(map[string]int64{"a": 1, "b": 2}, Numbers(set, o.Revisions)); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
	owners := map[string]int{}
	for name, claim := range o.Claims {
		owners[name] = len(claim.OwnerReferences)
	}
	if diff := cmp.Diff(map[string]int{"data-web-0": 0, "data-web-1": 1}, owners); diff != "" {
		t.Errorf("owners of claims (-want +got):\n%s", diff)
	}
}

func TestIgnoreTexts(t *testing.T) {
	one := plan.DeletePod{Reason: plan.Because(plan.Outdated, "for %s", "this")}
	same := plan.DeletePod{Reason: plan.Because(plan.Outdated, "for that")}
	other := plan.DeletePod{Reason: plan.Because(plan.ScaledDown, "for this")}
	if diff := cmp.Diff(one, same, IgnoreTexts); diff != "" {
		t.Errorf("the same reason in other words differs:\n%s", diff)
	}
	if cmp.Equal(one, other, IgnoreTexts) {
		t.Error("different reasons are equal")
	}
}

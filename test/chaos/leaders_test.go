package chaos

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/test/process"
)

// depose pauses operators, one after the other, until somebody else leads.
func (s *stage) depose(pair []*process.Operator) {
	before, err := s.leader()
	if err != nil {
		return
	}
	for _, operator := range pair {
		operator.Pause()
		isDeposed := s.awaitOther(before)
		operator.Resume()
		if isDeposed {
			s.count("leaders deposed", 1)
			return
		}
	}
}

// lapse is longer than a lease lasts and a standby takes to notice.
const lapse = 25 * time.Second

// awaitOther waits until somebody else leads, though not for ever: the operator that is paused may not be the leader.
func (s *stage) awaitOther(before string) bool {
	for deadline := time.Now().Add(lapse); time.Now().Before(deadline); time.Sleep(glance) {
		if now, err := s.leader(); err == nil && now != "" && now != before {
			return true
		}
	}
	return false
}

func (s *stage) leader() (string, error) {
	lease := &coordinationv1.Lease{}
	err := s.space.Client.Get(context.Background(), client.ObjectKey{Namespace: s.space.Name, Name: "rollcall-controller"}, lease)
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", err
	}
	return *lease.Spec.HolderIdentity, nil
}

package chaos

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/test/process"
)

// depose pauses the operator that leads until the other does, and lets it go on. It may be the other that leads, because
// this one lost its lease on a busy machine; then nobody takes over.
func (s *stage) depose(leader *process.Operator) {
	before, err := s.leader()
	if err != nil {
		s.t.Errorf("looking for the leader: %v", err)
		return
	}
	leader.Pause()
	isDeposed := s.awaitOther(before)
	leader.Resume()
	if isDeposed {
		s.count("leaders deposed", 1)
	}
}

// lapse is much longer than a lease lasts and a standby takes to notice.
const lapse = 30 * time.Second

// awaitOther waits until somebody else leads, though not for ever.
func (s *stage) awaitOther(before string) bool {
	for deadline := time.Now().Add(lapse); time.Now().Before(deadline); time.Sleep(glance) {
		if now, err := s.leader(); err == nil && now != "" && now != before {
			return true
		}
	}
	return false
}

// leader is who holds the lease.
func (s *stage) leader() (string, error) {
	lease := &coordinationv1.Lease{}
	err := s.space.Client.Get(context.Background(), client.ObjectKey{Namespace: s.space.Name, Name: "rollcall-controller"}, lease)
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", err
	}
	return *lease.Spec.HolderIdentity, nil
}

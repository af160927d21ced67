package cluster

import "sync"

// guests are what tests run against the control plane in their own process, by how they are ended.
var guests struct {
	sync.Mutex
	leave []func()
}

// BeforeStop has something ended before the control plane is, for example an operator: the API server waits for its
// watchers when it stops.
func BeforeStop(leave func()) {
	guests.Lock()
	defer guests.Unlock()
	guests.leave = append(guests.leave, leave)
}

func seeOffGuests() {
	guests.Lock()
	defer guests.Unlock()
	for _, leave := range guests.leave {
		leave()
	}
}

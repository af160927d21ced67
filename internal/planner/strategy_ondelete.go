package planner

// onDelete never takes a pod down: whoever deletes one gets it back at the
// target revision.
type onDelete struct{}

func (onDelete) targets(int) bool { return true }

func (onDelete) holdsUp(*slot) bool { return true }

func (onDelete) update(*decision) verdict { return verdict{} }

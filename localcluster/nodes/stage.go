package nodes

import (
	"math"
	"time"
)

// stage is where a pod stands in its life.
type stage struct {
	// running is false while the pod starts or waits for its image.
	running bool
	ready   bool
	// over is set with the phase that a pod has ended in: Failed or Succeeded.
	over Course
	// waiting and message say why containers do not run.
	waiting, message string
	restarts         int32
}

const (
	// visible is the shortest start that is worth a status of its own.
	visible = time.Second
	// firstBackOff is the pause after a container's first crash; each pause is twice the one before.
	firstBackOff = 10 * time.Second
	// mostRestarts ends the counting, when pauses have grown to hours.
	mostRestarts = 10
)

// stageAt is where a pod with this life stands after being on its node for age,
// and after how long that changes by itself (0: never). An untold stage is the
// one a pod has before its node says anything.
func stageAt(l life, age time.Duration) (now stage, told bool, next time.Duration) {
	if age < l.startDelay {
		return stage{waiting: "ContainerCreating"}, l.startDelay >= visible, l.startDelay - age
	}
	now, next = l.course.after(age-l.startDelay, l.failAfter)
	return now, true, next
}

// after is the stage of a course at a time since the pod was started.
func (c Course) after(elapsed, failAfter time.Duration) (stage, time.Duration) {
	left := max(0, failAfter-elapsed)
	switch c {
	case ImagePullBackOff:
		return stage{waiting: "ImagePullBackOff"}, 0
	case CrashLoop:
		restarts, next := restartsAfter(elapsed)
		return stage{running: true, waiting: "CrashLoopBackOff", restarts: restarts}, next
	case NeverReady:
		return stage{running: true}, 0
	case ReadyThenFailing:
		return stage{running: true, ready: left > 0}, left
	case Failed, Succeeded:
		if left == 0 {
			return stage{over: c}, 0
		}
		return stage{running: true, ready: true}, left
	default:
		return stage{running: true, ready: true}, 0
	}
}

// restartsAfter counts the restarts of a container that crashes at once. Restart k happens after pauses
// that add up to firstBackOff·(2^k − 1).
func restartsAfter(elapsed time.Duration) (restarts int32, next time.Duration) {
	restarts = int32(math.Log2(float64(elapsed)/float64(firstBackOff) + 1))
	if restarts >= mostRestarts {
		return mostRestarts, 0
	}
	return restarts, firstBackOff*(1<<(restarts+1)-1) - elapsed
}

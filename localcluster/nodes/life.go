package nodes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations of a pod that say how it lives. Each may also stand in the tag of the pod's first image,
// for example "web:2-start-5s-crash-loop"; the annotation wins.
const (
	// CourseAnnotation says what becomes of the pod, one of Courses.
	CourseAnnotation = "sim.rollcall.dev/course"
	// StartDelayAnnotation is how long the pod takes to start ("start-5s" in a tag).
	StartDelayAnnotation = "sim.rollcall.dev/start-delay"
	// StopDelayAnnotation is how long the pod takes to stop, or Never ("stop-5s", "stop-never").
	StopDelayAnnotation = "sim.rollcall.dev/stop-delay"
	// FailAfterAnnotation is how long a pod runs before it fails or ends, in the courses that do ("after-5s").
	FailAfterAnnotation = "sim.rollcall.dev/fail-after"
)

// Never is the stop delay of a pod that hangs in termination.
const Never = "never"

// Course is what becomes of a pod once it has been started.
type Course string

const (
	// Ready is the healthy pod.
	Ready Course = "ready"
	// ImagePullBackOff never gets its image.
	ImagePullBackOff Course = "image-pull-backoff"
	// CrashLoop crashes after every start, with growing pauses.
	CrashLoop Course = "crash-loop"
	// NeverReady runs but never passes its readiness probe.
	NeverReady Course = "never-ready"
	// ReadyThenFailing passes its readiness probe for a while and then no more.
	ReadyThenFailing Course = "ready-then-failing"
	// Failed runs for a while and is then evicted: phase Failed.
	Failed Course = "failed"
	// Succeeded runs for a while and then ends well: phase Succeeded.
	Succeeded Course = "succeeded"
)

// Courses are all that CourseAnnotation understands. No name is a part of another that stands behind it.
var Courses = []Course{ReadyThenFailing, NeverReady, ImagePullBackOff, CrashLoop, Failed, Succeeded, Ready}

// Delays are how long pods take that do not say so themselves.
type Delays struct {
	Start, Stop time.Duration
}

// life is how a pod lives.
type life struct {
	course     Course
	startDelay time.Duration
	stopDelay  time.Duration
	hangs      bool
	failAfter  time.Duration
}

// defaultFailAfter leaves time to see a pod Ready before it fails.
const defaultFailAfter = 5 * time.Second

// lifeOf reads how a pod lives; the error tells the pod's author what is wrong with an annotation.
func lifeOf(pod *corev1.Pod, delays Delays) (life, error) {
	tag := tagOf(pod)
	start, err := durationOf(pod, StartDelayAnnotation, startInTag, tag, delays.Start)
	if err != nil {
		return life{}, err
	}
	stop, hangs, err := stopOf(pod, tag, delays.Stop)
	if err != nil {
		return life{}, err
	}
	after, err := durationOf(pod, FailAfterAnnotation, afterInTag, tag, defaultFailAfter)
	if err != nil {
		return life{}, err
	}
	course, err := courseOf(pod, tag)
	return life{course: course, startDelay: start, stopDelay: stop, hangs: hangs, failAfter: after}, err
}

func courseOf(pod *corev1.Pod, tag string) (Course, error) {
	if value, set := pod.Annotations[CourseAnnotation]; set {
		if slices.Contains(Courses, Course(value)) {
			return Course(value), nil
		}
		return Ready, fmt.Errorf("annotation %s is %q, but must be one of %v", CourseAnnotation, value, Courses)
	}
	for _, course := range Courses {
		if strings.HasSuffix("-"+tag, "-"+string(course)) {
			return course, nil
		}
	}
	return Ready, nil
}

var (
	startInTag = regexp.MustCompile(`\bstart-([0-9]+(?:ms|s|m|h))\b`)
	stopInTag  = regexp.MustCompile(`\bstop-([0-9]+(?:ms|s|m|h)|never)\b`)
	afterInTag = regexp.MustCompile(`\bafter-([0-9]+(?:ms|s|m|h))\b`)
)

func stopOf(pod *corev1.Pod, tag string, otherwise time.Duration) (delay time.Duration, hangs bool, err error) {
	found := stopInTag.FindStringSubmatch(tag)
	value, set := pod.Annotations[StopDelayAnnotation]
	if value == Never || (!set && found != nil && found[1] == Never) {
		return 0, true, nil
	}
	delay, err = durationOf(pod, StopDelayAnnotation, stopInTag, tag, otherwise)
	return delay, false, err
}

// durationOf is the duration that the annotation gives, else the tag, else the default.
func durationOf(pod *corev1.Pod, annotation string, inTag *regexp.Regexp, tag string, otherwise time.Duration) (time.Duration, error) {
	value, set := pod.Annotations[annotation]
	if found := inTag.FindStringSubmatch(tag); !set && found != nil {
		value, set = found[1], true
	}
	if !set {
		return otherwise, nil
	}
	duration, err := time.ParseDuration(value)
	if err != nil || duration < 0 {
		return otherwise, fmt.Errorf("annotation %s is %q, but must be a duration such as 500ms or 10s", annotation, value)
	}
	return duration, nil
}

// tagOf is the tag of the pod's first image.
func tagOf(pod *corev1.Pod) string {
	if len(pod.Spec.Containers) == 0 {
		return ""
	}
	image, _, _ := strings.Cut(pod.Spec.Containers[0].Image, "@")
	name := image[strings.LastIndex(image, "/")+1:]
	_, tag, _ := strings.Cut(name, ":")
	return tag
}

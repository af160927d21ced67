package nodes

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func podOf(image string, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0", Namespace: "default", UID: "uid", Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: image}}},
	}
}

func TestLifeOf(t *testing.T) {
	delays := Delays{Start: 200 * time.Millisecond, Stop: 100 * time.Millisecond}
	usual := life{course: Ready, startDelay: delays.Start, stopDelay: delays.Stop, failAfter: defaultFailAfter}
	with := func(change func(*life)) life {
		l := usual
		change(&l)
		return l
	}
	cases := map[string]struct {
		image       string
		annotations map[string]string
		want        life
		wantError   string
	}{
		"plain image":                      {image: "registry:5000/web", want: usual},
		"tag with a course":                {image: "web:1.2-crash-loop", want: with(func(l *life) { l.course = CrashLoop })},
		"tag that is a course":             {image: "registry:5000/web:never-ready", want: with(func(l *life) { l.course = NeverReady })},
		"the longer course":                {image: "web:ready-then-failing", want: with(func(l *life) { l.course = ReadyThenFailing })},
		"a word that only ends like one":   {image: "web:already", want: usual},
		"digest after the tag":             {image: "web:2-failed@sha256:abc", want: with(func(l *life) { l.course = Failed })},
		"delays in the tag":                {image: "web:2-start-5s-stop-250ms-never-ready", want: with(func(l *life) { l.course, l.startDelay, l.stopDelay = NeverReady, 5*time.Second, 250*time.Millisecond })},
		"a pod that hangs, by its tag":     {image: "web:stop-never", want: with(func(l *life) { l.hangs, l.stopDelay = true, 0 })},
		"a pod that fails after a while":   {image: "web:after-2m-failed", want: with(func(l *life) { l.course, l.failAfter = Failed, 2*time.Minute })},
		"annotation wins over tag":         {image: "web:crash-loop", annotations: map[string]string{CourseAnnotation: "ready"}, want: usual},
		"annotated delays":                 {annotations: map[string]string{StartDelayAnnotation: "1m", StopDelayAnnotation: Never}, want: with(func(l *life) { l.startDelay, l.hangs, l.stopDelay = time.Minute, true, 0 })},
		"annotation ends the tag's hang":   {image: "web:stop-never", annotations: map[string]string{StopDelayAnnotation: "1s"}, want: with(func(l *life) { l.stopDelay = time.Second })},
		"unknown course":                   {annotations: map[string]string{CourseAnnotation: "happy"}, wantError: `"happy", but must be one of`},
		"a delay that is no duration":      {annotations: map[string]string{StartDelayAnnotation: "soon"}, wantError: `"soon", but must be a duration`},
		"a delay that is negative":         {annotations: map[string]string{StopDelayAnnotation: "-1s"}, wantError: `"-1s", but must be a duration`},
		"a time to fail that is no number": {annotations: map[string]string{FailAfterAnnotation: "x"}, wantError: "fail-after"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := lifeOf(podOf(tc.image, tc.annotations), delays)
			if tc.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantError) {
					t.Fatalf("lifeOf: error %v, want one with %q", err, tc.wantError)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(life{})); err != nil || diff != "" {
				t.Errorf("lifeOf: error %v, difference (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestStageAt(t *testing.T) {
	const s = time.Second
	slow := life{course: Ready, startDelay: 3 * s}
	cases := map[string]struct {
		life      life
		age       time.Duration
		want      stage
		wantTold  bool
		wantAgain time.Duration
	}{
		"a quick start is not told":          {life: life{course: Ready, startDelay: s / 2}, age: 0, want: stage{waiting: "ContainerCreating"}, wantAgain: s / 2},
		"a slow start is":                    {life: slow, age: s, want: stage{waiting: "ContainerCreating"}, wantTold: true, wantAgain: 2 * s},
		"started":                            {life: slow, age: 3 * s, want: stage{running: true, ready: true}, wantTold: true},
		"no image":                           {life: life{course: ImagePullBackOff}, age: s, want: stage{waiting: "ImagePullBackOff"}, wantTold: true},
		"runs, never ready":                  {life: life{course: NeverReady}, age: s, want: stage{running: true}, wantTold: true},
		"before the first restart":           {life: life{course: CrashLoop}, age: 0, want: stage{running: true, waiting: "CrashLoopBackOff"}, wantTold: true, wantAgain: 10 * s},
		"after the first restart":            {life: life{course: CrashLoop}, age: 10 * s, want: stage{running: true, waiting: "CrashLoopBackOff", restarts: 1}, wantTold: true, wantAgain: 20 * s},
		"after the second restart":           {life: life{course: CrashLoop}, age: 31 * s, want: stage{running: true, waiting: "CrashLoopBackOff", restarts: 2}, wantTold: true, wantAgain: 39 * s},
		"restarts end":                       {life: life{course: CrashLoop}, age: 1000 * time.Hour, want: stage{running: true, waiting: "CrashLoopBackOff", restarts: mostRestarts}, wantTold: true},
		"still ready":                        {life: life{course: ReadyThenFailing, failAfter: 5 * s}, age: 2 * s, want: stage{running: true, ready: true}, wantTold: true, wantAgain: 3 * s},
		"ready no more":                      {life: life{course: ReadyThenFailing, failAfter: 5 * s}, age: 5 * s, want: stage{running: true}, wantTold: true},
		"will fail":                          {life: life{course: Failed, failAfter: 5 * s}, age: 4 * s, want: stage{running: true, ready: true}, wantTold: true, wantAgain: s},
		"has failed":                         {life: life{course: Failed, failAfter: 5 * s}, age: 6 * s, want: stage{over: Failed}, wantTold: true},
		"has ended well, after a slow start": {life: life{course: Succeeded, startDelay: 2 * s, failAfter: 5 * s}, age: 7 * s, want: stage{over: Succeeded}, wantTold: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, told, again := stageAt(tc.life, tc.age)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(stage{})); diff != "" {
				t.Errorf("stage (-want +got):\n%s", diff)
			}
			if told != tc.wantTold || again != tc.wantAgain {
				t.Errorf("told %v, again in %v; want %v, %v", told, again, tc.wantTold, tc.wantAgain)
			}
		})
	}
}

// Every stage that is written must be recognized when it comes back, or the simulator writes for ever.
func TestShowsWhatStatusOfWrites(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, course := range Courses {
		for _, age := range []time.Duration{0, time.Minute} {
			pod := podOf("web", nil)
			at, _, _ := stageAt(life{course: course, failAfter: time.Second}, age)
			if shows(pod, at) {
				t.Errorf("%s at %s: a pod without status already shows %+v", course, age, at)
			}
			pod.Status = statusOf(pod, at, "10.128.0.1", now)
			if !shows(pod, at) {
				t.Errorf("%s at %s: its own status is not recognized: %+v", course, age, pod.Status)
			}
		}
	}
}

// A pod that becomes ready keeps the times of what did not change, so that "since when" stays true.
func TestStatusKeepsTimes(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := start.Add(time.Minute)
	pod := podOf("web", nil)
	pod.Status = statusOf(pod, stage{running: true}, "10.128.0.1", start)
	pod.Status = statusOf(pod, stage{running: true, ready: true}, "10.128.0.1", later)
	if got := findCondition(pod, corev1.PodInitialized).LastTransitionTime.Time; !got.Equal(start) {
		t.Errorf("Initialized since %v, want %v", got, start)
	}
	if got := findCondition(pod, corev1.PodReady).LastTransitionTime.Time; !got.Equal(later) {
		t.Errorf("Ready since %v, want %v", got, later)
	}
	if got := pod.Status.ContainerStatuses[0].State.Running.StartedAt.Time; !got.Equal(start) {
		t.Errorf("container started at %v, want %v", got, start)
	}
}

func TestReadinessGates(t *testing.T) {
	pod := podOf("web", nil)
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
	ready := stage{running: true, ready: true}
	pod.Status = statusOf(pod, ready, "", time.Now())
	if findCondition(pod, corev1.PodReady).Status == corev1.ConditionTrue {
		t.Error("Ready although the readiness gate is closed")
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "example.com/lb", Status: corev1.ConditionTrue})
	if shows(pod, ready) {
		t.Error("an opened readiness gate needs no write")
	}
}

func TestRemovalIsAskedForOnce(t *testing.T) {
	var m memory
	pod, now := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "a"}}, time.Now()
	for _, step := range []struct{ after, want time.Duration }{
		{0, 0}, {retryAfter / 4, retryAfter * 3 / 4}, {retryAfter, 0}, {retryAfter * 3 / 2, retryAfter / 2},
	} {
		if got := m.removal(pod, now.Add(step.after)); got != step.want {
			t.Errorf("after %s it waits %s, want %s", step.after, got, step.want)
		}
	}
	m.forget(pod.UID)
	if got := m.removal(pod, now.Add(2*retryAfter-1)); got != 0 {
		t.Errorf("a forgotten pod waits %s", got)
	}
}

func TestAddresses(t *testing.T) {
	var a addresses
	if got := a.take(); got != "10.128.0.1" {
		t.Errorf("first address %s", got)
	}
	a.reserve("10.128.1.255")
	a.reserve("")
	if got := a.take(); got != "10.128.2.0" {
		t.Errorf("address after a reserved one %s", got)
	}
}

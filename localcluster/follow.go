package localcluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// Follow prints what happens in a running cluster until the context ends: a line for each change of a pod, and the
// events of everything else.
func Follow(ctx context.Context, layout Layout, report *Reporter) error {
	config, err := clientcmd.BuildConfigFromFlags("", layout.Kubeconfig())
	if err != nil {
		return fmt.Errorf("following the cluster: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("following the cluster: %w", err)
	}
	f := follower{report: report, since: time.Now()}
	factory := informers.NewSharedInformerFactory(client, 0)
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(f.pods()); err != nil {
		return err
	}
	if _, err := factory.Core().V1().Events().Informer().AddEventHandler(f.events()); err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	return nil
}

type follower struct {
	report *Reporter
	since  time.Time
}

func (f follower) say(kind, namespace, name, what string) {
	f.report.Printf("%s  %-12s %-34s %s\n", time.Now().Format(time.TimeOnly), kind, namespace+"/"+name, what)
}

func (f follower) pods() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if pod := object.(*corev1.Pod); !initial {
				f.say("pod", pod.Namespace, pod.Name, describe(pod))
			}
		},
		UpdateFunc: func(before, after any) {
			pod := after.(*corev1.Pod)
			if is := describe(pod); is != describe(before.(*corev1.Pod)) {
				f.say("pod", pod.Namespace, pod.Name, is)
			}
		},
		DeleteFunc: func(object any) {
			if pod, is := object.(*corev1.Pod); is {
				f.say("pod", pod.Namespace, pod.Name, "gone")
			}
		},
	}
}

// describe is what a person wants to know of a pod, in a few words.
func describe(pod *corev1.Pod) string {
	state := string(pod.Status.Phase)
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Waiting != nil && c.State.Waiting.Reason != "" {
			state = c.State.Waiting.Reason
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			state = "Ready"
		}
	}
	if pod.DeletionTimestamp != nil {
		state = "Terminating"
	}
	if pod.Spec.NodeName != "" {
		state += " on " + pod.Spec.NodeName
	}
	return state
}

// events shows those of everything but pods, whose changes are shown already, unless they warn.
func (f follower) events() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			e := object.(*corev1.Event)
			if e.CreationTimestamp.Time.Before(f.since) || (e.InvolvedObject.Kind == "Pod" && e.Type == corev1.EventTypeNormal) {
				return
			}
			f.say(shortKind(e.InvolvedObject.Kind), e.InvolvedObject.Namespace, e.InvolvedObject.Name, e.Reason+": "+e.Message)
		},
	}
}

// shortKind fits a kind into its column.
func shortKind(kind string) string {
	if kind == "PersistentVolumeClaim" {
		return "claim"
	}
	return strings.ToLower(kind)
}

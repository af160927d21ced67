package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// writer is how the controller writes. The API server answers the deletion of a
// pod with the whole pod; controller-runtime's client decodes, encodes and
// decodes it again, which took a tenth of the operator's processor time in an
// update. Nobody reads that answer, so here it is dropped.
type writer struct {
	client.Client
	pods rest.Interface
}

func newWriter(mgr manager.Manager) (client.Client, error) {
	pods, err := apiutil.RESTClientForGVK(corev1.SchemeGroupVersion.WithKind("Pod"), false, false,
		mgr.GetConfig(), serializer.NewCodecFactory(mgr.GetScheme()), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("make a client that deletes pods: %w", err)
	}
	return &writer{Client: client.WithFieldOwner(mgr.GetClient(), Name), pods: pods}, nil
}

// Delete deletes an object.
func (w *writer) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	if _, isPod := object.(*corev1.Pod); !isPod {
		return w.Client.Delete(ctx, object, options...)
	}
	chosen := (&client.DeleteOptions{}).ApplyOptions(options)
	return w.pods.Delete().Resource("pods").Namespace(object.GetNamespace()).Name(object.GetName()).
		Body(chosen.AsDeleteOptions()).Do(ctx).Error()
}

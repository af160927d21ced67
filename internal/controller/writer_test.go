package controller

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// deleted is a request as the API server sees it.
type deleted struct {
	Method, Path string
	Options      metav1.DeleteOptions
}

// newTestWriter returns a writer whose deletions of pods are answered with the status, and the requests that it made.
func newTestWriter(t *testing.T, answer metav1.Status, objects ...client.Object) (*writer, *[]deleted) {
	t.Helper()
	requests := &[]deleted{}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		request := deleted{Method: in.Method, Path: in.URL.Path}
		if err := json.NewDecoder(in.Body).Decode(&request.Options); err != nil {
			t.Errorf("reading the options: %v", err)
		}
		*requests = append(*requests, request)
		out.Header().Set("Content-Type", "application/json")
		out.WriteHeader(int(answer.Code))
		_ = json.NewEncoder(out).Encode(answer)
	}))
	t.Cleanup(server.Close)
	pods, err := rest.RESTClientFor(&rest.Config{Host: server.URL, APIPath: "/api", ContentConfig: rest.ContentConfig{
		GroupVersion: &corev1.SchemeGroupVersion, NegotiatedSerializer: clientgoscheme.Codecs.WithoutConversion(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &writer{Client: fake.NewClientBuilder().WithObjects(objects...).Build(), pods: pods}, requests
}

// A pod is deleted on the conditions that were given, and errors are told.
func TestDeletePod(t *testing.T) {
	uid, version := types.UID("u"), "7"
	writer, requests := newTestWriter(t, metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusOK})
	if err := writer.Delete(t.Context(), pod("web-0"), client.Preconditions{UID: &uid, ResourceVersion: &version}); err != nil {
		t.Fatal(err)
	}
	want := []deleted{{Method: http.MethodDelete, Path: "/api/v1/namespaces/" + testkit.Namespace + "/pods/web-0", Options: metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	}}}
	if diff := cmp.Diff(want, *requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}

	refusing, _ := newTestWriter(t, metav1.Status{Status: metav1.StatusFailure, Code: http.StatusConflict, Reason: metav1.StatusReasonConflict})
	if err := refusing.Delete(t.Context(), pod("web-0")); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict", err)
	}
}

// Other objects are deleted as ever.
func TestDeleteRevision(t *testing.T) {
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: testkit.Namespace, Name: "web-a", UID: "u"}}
	writer, requests := newTestWriter(t, metav1.Status{}, revision)
	if err := writer.Delete(t.Context(), revision, client.Preconditions{UID: ptr.To(revision.UID)}); err != nil {
		t.Fatal(err)
	}
	if err := writer.Get(t.Context(), client.ObjectKeyFromObject(revision), revision); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want that it is gone", err)
	}
	if len(*requests) > 0 {
		t.Errorf("%v was asked where pods are deleted", *requests)
	}
}

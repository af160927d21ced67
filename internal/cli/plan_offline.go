package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/manifest"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/preview"
)

// offlineRequest makes a request from files alone.
func (v *planVerb) offlineRequest(argument string) (preview.Request, error) {
	after, err := v.wanted(argument)
	if err != nil {
		return preview.Request{}, err
	}
	if v.from == "" {
		return preview.Request{Set: v.newborn(after), Now: v.Now(), Gates: plan.AllGates()}, nil
	}
	before, written, err := v.readManifest(v.from, after.Name)
	if err != nil {
		return preview.Request{}, err
	}
	if after, err = acceptUpdate(after, written, v.source()); err != nil {
		return preview.Request{}, err
	}
	request, err := preview.Settle(v.newborn(before), v.Now(), preview.Pace{Start: defaultStart, Stop: defaultStop})
	if err != nil {
		return request, err
	}
	request.Set = request.Set.DeepCopy()
	request.Set.Spec = after.Spec
	request.Set.Generation++
	return request, nil
}

// wanted is the set as it would be: what the file says, or without one what --from says, changed by flags.
func (v *planVerb) wanted(argument string) (*v1.StatefulSet, error) {
	name := ""
	if argument != "" {
		var err error
		if name, err = ours.name(argument); err != nil {
			return nil, err
		}
	}
	set, _, err := v.readManifest(v.source(), name)
	if err != nil {
		return nil, err
	}
	if len(v.edits.given) == 0 {
		return set, nil
	}
	if err := v.edits.apply(set, v.Now()); err != nil {
		return nil, err
	}
	return acceptUpdate(set, nil, v.source())
}

// source is the file that says how the set would be.
func (v *planVerb) source() string {
	if v.file == "" {
		return v.from
	}
	return v.file
}

// acceptUpdate asks the rules of the CRD about a set, if old is not nil as an update of that.
func acceptUpdate(set *v1.StatefulSet, old *unstructured.Unstructured, source string) (*v1.StatefulSet, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err != nil {
		return nil, err
	}
	if old != nil {
		// Rules about changes compare what is stored, defaults included.
		stored, err := manifest.Accept(old, nil)
		if err != nil {
			return nil, err
		}
		if old.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(stored); err != nil {
			return nil, err
		}
	}
	accepted, err := manifest.Accept(&unstructured.Unstructured{Object: fields}, old)
	if err != nil {
		return nil, failf("%s would be refused: %v", describeSource(source), err)
	}
	return accepted, nil
}

// readManifest reads a set from a file, or from standard input.
func (v *planVerb) readManifest(path, name string) (*v1.StatefulSet, *unstructured.Unstructured, error) {
	content, err := v.read(path)
	if err != nil {
		return nil, nil, err
	}
	set, written, err := manifest.Read(bytes.NewReader(content), name)
	if err != nil {
		return nil, nil, failf("%s: %v", describeSource(path), err)
	}
	return set, written, nil
}

// read returns what is in a file. Standard input is read only once, and may be asked for again.
func (v *planVerb) read(path string) ([]byte, error) {
	if path != "-" {
		content, err := os.ReadFile(path)
		if cause := (*os.PathError)(nil); errors.As(err, &cause) {
			return nil, failf("can't read %s: %v", path, cause.Err)
		}
		return content, err
	}
	if v.input == nil {
		content, err := io.ReadAll(v.In)
		if err != nil {
			return nil, failf("can't read standard input: %v", err)
		}
		v.input = content
	}
	return v.input, nil
}

func describeSource(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// newborn gives a set from a file what only an API server gives.
func (v *planVerb) newborn(set *v1.StatefulSet) *v1.StatefulSet {
	born := set.DeepCopy()
	born.Namespace = v.namespaceOf(set)
	born.UID, born.Generation, born.CreationTimestamp = "preview", 1, metav1.NewTime(v.Now().Truncate(time.Second))
	born.Status = v1.StatefulSetStatus{}
	return born
}

// namespaceOf is where a set from a file would be: where the flag says, the file, or the kubeconfig if there is one.
func (v *planVerb) namespaceOf(set *v1.StatefulSet) string {
	if given := v.flags.Namespace; given != nil && *given != "" {
		return *given
	}
	if set.Namespace != "" {
		return set.Namespace
	}
	if namespace, err := v.namespace(); err == nil {
		return namespace
	}
	return metav1.NamespaceDefault
}

// Package revision keeps the history of a set's template.
//
// A revision is an apps/v1 ControllerRevision. Its data is the template as a
// patch that replaces whatever template is there,
//
//	{"spec":{"template":{"$patch":"replace", …}}}
//
// with keys in order: the very bytes that the built-in controller writes, so a
// history that was adopted from it is recognized as it stands. Its name is
//
//	<set>-<hash of the data and the collision count>
//
// and pods carry that name in a label. Numbers only grow: the highest is the
// target, a rollback gives an old revision the next number.
package revision

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

const (
	// HashLabel is the label of a revision that holds its hash, as apps/v1 has it.
	HashLabel = "controller.kubernetes.io/hash"

	// lastApplied is kubectl's copy of the whole manifest: of no use in a
	// history of templates, and big.
	lastApplied = corev1.LastAppliedConfigAnnotation

	// maxPrefix leaves room for the hash in a name of at most 253 characters.
	maxPrefix = 223

	// hashAlphabet has neither vowels nor digits that look like them, so that no
	// hash spells a word.
	hashAlphabet = "bcdfghjklmnpqrstvwxz2456789"
)

// New returns the revision that would record the set's template under a number.
func New(set *v1.StatefulSet, data []byte, number int64, collisionCount int32) *appsv1.ControllerRevision {
	hash := Hash(data, collisionCount)
	labels := map[string]string{}
	maps.Copy(labels, set.Spec.Template.Labels)
	labels[HashLabel] = hash
	annotations := map[string]string{}
	maps.Copy(annotations, set.Annotations)
	delete(annotations, lastApplied)
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       set.Namespace,
			Name:            Name(set.Name, hash),
			Labels:          labels,
			Annotations:     annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, v1.Kind)},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: number,
	}
}

// Name returns the name of a set's revision with a hash.
func Name(set, hash string) string {
	return set[:min(len(set), maxPrefix)] + "-" + hash
}

// IsNamedAfter tells whether a revision's name is one that a set could have given.
func IsNamedAfter(set, name string) bool {
	hash, ok := strings.CutPrefix(name, Name(set, ""))
	return ok && hash != "" && !strings.Contains(hash, "-")
}

// Hash condenses a revision's data. The collision count tells apart data that
// would get the same hash.
func Hash(data []byte, collisionCount int32) string {
	sum := fnv.New32()
	sum.Write(data)
	sum.Write(strconv.AppendInt(nil, int64(collisionCount), 10))
	hash := strconv.AppendUint(nil, uint64(sum.Sum32()), 10)
	for i, digit := range hash {
		hash[i] = hashAlphabet[int(digit)%len(hashAlphabet)]
	}
	return string(hash)
}

// Data returns a template as the data of a revision.
func Data(template *corev1.PodTemplateSpec) ([]byte, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		return nil, fmt.Errorf("encode the pod template: %w", err)
	}
	fields["$patch"] = "replace"
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": fields}})
	if err != nil {
		return nil, fmt.Errorf("encode the pod template: %w", err)
	}
	return data, nil
}

// Template returns the template that a revision recorded.
func Template(revision *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	var patch struct {
		Spec struct {
			Template *corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(revision.Data.Raw, &patch); err != nil {
		return nil, fmt.Errorf("read the pod template of revision %s: %w", revision.Name, err)
	}
	if patch.Spec.Template == nil {
		return nil, fmt.Errorf("read the pod template of revision %s: its data has none", revision.Name)
	}
	return patch.Spec.Template, nil
}

// Sorted returns the revisions from the oldest to the newest, by number, then
// age, then name, and leaves the given slice as it is.
func Sorted(revisions []*appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	return slices.SortedStableFunc(slices.Values(revisions), func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(
			cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// NextNumber returns the number after that of the newest of sorted revisions. The
// highest number there is stays the highest.
func NextNumber(sorted []*appsv1.ControllerRevision) int64 {
	switch {
	case len(sorted) == 0:
		return 1
	case sorted[len(sorted)-1].Revision == math.MaxInt64:
		return math.MaxInt64
	default:
		return sorted[len(sorted)-1].Revision + 1
	}
}

// Excess returns the revisions to remove, oldest first, so that at most limit of
// those that nothing uses remain. A negative limit keeps all: validation refuses
// it, and one that slipped through must not cost anybody their history.
func Excess(sorted []*appsv1.ControllerRevision, isLive func(name string) bool, limit int) []*appsv1.ControllerRevision {
	if limit < 0 {
		return nil
	}
	var unused []*appsv1.ControllerRevision
	for _, revision := range sorted {
		if !isLive(revision.Name) {
			unused = append(unused, revision)
		}
	}
	return unused[:max(0, len(unused)-limit)]
}

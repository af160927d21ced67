package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// The indexes by which a set finds its objects.
const (
	// bySet holds the names of the sets that a pod or revision bears on: of its
	// controller, and of the set that its own name is made from.
	bySet = "set"
	// byStem holds a claim's name without its last part: "data-web" for data-web-2.
	byStem = "stem"
	// byClaimStem holds the stems of the claims that a set uses.
	byClaimStem = "claimStem"
)

// CacheOptions restricts informers to the namespaces (all, if none is given) and
// to what decisions read.
//
// Pods are watched by the label that names them, so memory follows the pods of
// stateful sets and not those of the cluster. Claims and revisions have no such
// label: claims may be put in place by users, and a revision that lost a label
// must not be recorded twice. They are stripped instead.
//
// Objects are handed out without copying them: whoever gets one must not modify it.
func CacheOptions(namespaces []string) cache.Options {
	shared := ptr.To(true)
	options := cache.Options{
		ReaderFailOnMissingInformer: true,
		ByObject: map[client.Object]cache.ByObject{
			&v1.StatefulSet{}:               {Transform: cache.TransformStripManagedFields(), UnsafeDisableDeepCopy: shared},
			&corev1.Pod{}:                   {Label: namedPods(), Transform: stripPod, UnsafeDisableDeepCopy: shared},
			&corev1.PersistentVolumeClaim{}: {Transform: stripClaim, UnsafeDisableDeepCopy: shared},
			&appsv1.ControllerRevision{}:    {Transform: stripRevision, UnsafeDisableDeepCopy: shared},
		},
	}
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// namedPods selects the pods of stateful sets, ours and others.
func namedPods() labels.Selector {
	exists, err := labels.NewRequirement(v1.PodNameLabel, selection.Exists, nil)
	if err != nil {
		panic(fmt.Sprintf("making a selector from constants: %v", err))
	}
	return labels.NewSelector().Add(*exists)
}

// AddIndexes adds the indexes that an Observer reads by. Pods on a shelf are found there.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer, shelf *Shelf) error {
	type index struct {
		object client.Object
		field  string
		keys   client.IndexerFunc
	}
	indexes := []index{
		{&appsv1.ControllerRevision{}, bySet, setNames},
		{&corev1.PersistentVolumeClaim{}, byStem, nameStem},
		{&v1.StatefulSet{}, byClaimStem, func(object client.Object) []string { return claimStems(object.(*v1.StatefulSet)) }},
	}
	if shelf == nil {
		indexes = append(indexes, index{&corev1.Pod{}, bySet, setNames})
	}
	for _, index := range indexes {
		if err := indexer.IndexField(ctx, index.object, index.field, index.keys); err != nil {
			return fmt.Errorf("index %T by %s: %w", index.object, index.field, err)
		}
	}
	return nil
}

// setNames are one name for nearly every object: the controller of web-2 is web.
func setNames(object client.Object) []string {
	names := nameStem(object)
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && !slices.Contains(names, controller.Name) {
		names = append(names, controller.Name)
	}
	return names
}

func nameStem(object client.Object) []string {
	if stem, ok := Stem(object.GetName()); ok {
		return []string{stem}
	}
	return nil
}

// Stem returns a name without its last dash and what follows it. Of a pod or a
// revision that is the name of the set, if it has one.
func Stem(name string) (string, bool) {
	dash := strings.LastIndexByte(name, '-')
	if dash <= 0 {
		return "", false
	}
	return name[:dash], true
}

func claimStems(set *v1.StatefulSet) []string {
	var stems []string
	for i := range set.Spec.VolumeClaimTemplates {
		stems = append(stems, set.Spec.VolumeClaimTemplates[i].Name+"-"+set.Name)
	}
	return stems
}

// SetsOfClaim returns the sets that would use a claim of this name. There may be
// more than one: "a-b-0" is a claim of set "b" and of set "a-b", with templates
// named accordingly.
func (o *Observer) SetsOfClaim(ctx context.Context, claim types.NamespacedName) ([]types.NamespacedName, error) {
	stem, ok := Stem(claim.Name)
	if !ok {
		return nil, nil
	}
	var list v1.StatefulSetList
	err := o.cached.List(ctx, &list, client.InNamespace(claim.Namespace), client.MatchingFields{byClaimStem: stem})
	if err != nil {
		return nil, fmt.Errorf("list the sets that use claim %s: %w", claim, err)
	}
	var keys []types.NamespacedName
	for i := range list.Items {
		keys = append(keys, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return keys, nil
}

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// resource is how the plugin calls a set in what it prints: statefulset.apps.rollcall.dev/web.
const resource = "statefulset." + v1.GroupName

// spellings are the ways to write a kind in front of a name.
type spellings []string

var (
	// ours are the spellings of apps.rollcall.dev/v1 StatefulSets. Without a group they mean ours, because no verb that
	// takes them is about any other.
	ours = spellings{
		"rsts", "sts", "statefulset", "statefulsets", "statefulset." + v1.GroupName, "statefulsets." + v1.GroupName,
		"statefulset.v1." + v1.GroupName, "statefulsets.v1." + v1.GroupName, "rsts." + v1.GroupName,
	}
	// builtIn are the spellings of apps/v1 StatefulSets, for verbs that are about those.
	builtIn = spellings{"sts", "statefulset", "statefulsets", "statefulset.apps", "statefulsets.apps", "statefulset.v1.apps", "statefulsets.v1.apps", "sts.apps"}
)

// name returns the name in an argument such as web or rsts/web.
func (s spellings) name(argument string) (string, error) {
	kind, name, hasKind := strings.Cut(argument, "/")
	switch {
	case !hasKind && argument != "":
		return argument, nil
	case name == "" || strings.Contains(name, "/"):
		return "", failf("%q names no set: write its name, as in web or rsts/web", argument)
	case slices.Contains(s, strings.ToLower(kind)):
		return name, nil
	case slices.Contains(builtIn, strings.ToLower(kind)):
		return "", failf("%s is a built-in StatefulSet (apps/v1), which this verb does not know: use \"kubectl rollout\", or move it over with \"kubectl rollcall adopt %s\"", argument, name)
	case slices.Contains(ours, strings.ToLower(kind)):
		return "", failf("%s is a StatefulSet of %s already: this verb is about those of apps/v1", argument, v1.GroupName)
	default:
		return "", failf("%s is no StatefulSet: kubectl rollcall knows the kind %s alone, written as %s, rsts/%[3]s or statefulset/%[3]s", argument, resource, name)
	}
}

// key returns where the object of an argument is.
func (p *Program) key(s spellings, argument string) (client.ObjectKey, error) {
	name, err := s.name(argument)
	if err != nil {
		return client.ObjectKey{}, err
	}
	namespace, err := p.namespace()
	return client.ObjectKey{Namespace: namespace, Name: name}, err
}

// readSet returns the set that an argument names.
func (p *Program) readSet(ctx context.Context, c client.Reader, argument string) (*v1.StatefulSet, error) {
	key, err := p.key(ours, argument)
	if err != nil {
		return nil, err
	}
	set := &v1.StatefulSet{}
	err = c.Get(ctx, key, set)
	if apierrors.IsNotFound(err) {
		return nil, p.missing(ctx, c, key)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s/%s: %w", resource, key.Name, err)
	}
	v1.SetDefaults(set)
	return set, nil
}

// missing says that there is no such set, and what else there is.
func (p *Program) missing(ctx context.Context, c client.Reader, key client.ObjectKey) error {
	if err := c.Get(ctx, key, &appsv1.StatefulSet{}); err == nil {
		return failf("%s in namespace %s is a built-in StatefulSet (apps/v1): use \"kubectl rollout\", or move it over with \"kubectl rollcall adopt %[1]s\"", key.Name, key.Namespace)
	}
	return failf("there is no %s %q in namespace %s: \"kubectl rollcall get -A\" lists all there are", resource, key.Name, key.Namespace)
}

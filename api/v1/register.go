package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group that Rollcall serves.
const GroupName = "apps.rollcall.dev"

// GroupVersion is the group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

// Kind is the one kind of this group, as owner references name it.
var Kind = GroupVersion.WithKind("StatefulSet")

// AddToScheme teaches a scheme the types of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &StatefulSet{}, &StatefulSetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

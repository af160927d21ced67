package main

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// completeMetadata adds to embedded object metadata what controller-gen leaves out: dumps of live objects carry it,
// foremost "creationTimestamp: null", and strict field validation, kubectl's default, would refuse it.
func completeMetadata(s *schema) {
	metadata, ok := s.Properties["metadata"]
	if !ok || metadata.Properties["labels"].Type == "" {
		return
	}
	addStrings(&metadata, "generateName", "resourceVersion", "selfLink", "uid")
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		metadata.Properties[name] = schema{Type: "string", Format: "date-time", Nullable: true}
	}
	for _, name := range []string{"deletionGracePeriodSeconds", "generation"} {
		metadata.Properties[name] = schema{Type: "integer", Format: "int64"}
	}
	metadata.Properties["managedFields"] = listOf(managedField())
	metadata.Properties["ownerReferences"] = listOf(ownerReference())
	s.Properties["metadata"] = metadata
}

func managedField() *schema {
	entry := &schema{Type: "object", Properties: map[string]schema{
		"fieldsV1": {Type: "object", XPreserveUnknownFields: pointerTo(true)},
		"time":     {Type: "string", Format: "date-time"},
	}}
	addStrings(entry, "apiVersion", "fieldsType", "manager", "operation", "subresource")
	return entry
}

func ownerReference() *schema {
	reference := &schema{Type: "object", Properties: map[string]schema{
		"blockOwnerDeletion": {Type: "boolean"},
		"controller":         {Type: "boolean"},
	}}
	addStrings(reference, "apiVersion", "kind", "name", "uid")
	return reference
}

func addStrings(s *schema, names ...string) {
	for _, name := range names {
		s.Properties[name] = schema{Type: "string"}
	}
}

func listOf(item *schema) schema {
	return schema{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: item}, XListType: pointerTo("atomic")}
}

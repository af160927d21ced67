package main

import "slices"

// borrowed are the places where Kubernetes' own types begin.
var borrowed = [][]string{
	{"spec", "template"},
	{"spec", "volumeClaimTemplates", "[]"},
}

// tolerant are the lists in which apps/v1 stores duplicates (with a warning at most) although server-side apply keys
// them. A keyed list in a CRD refuses duplicates, so in ours they are replaced as a whole.
var tolerant = []string{"env", "hostAliases", "imagePullSecrets", "ports"}

func adjustBorrowed(root *schema) error {
	for _, path := range borrowed {
		if err := edit(root, adjustType, path...); err != nil {
			return err
		}
	}
	return adjustClaims(root)
}

// adjustType applies the rule of the package comment to one of Kubernetes' types.
func adjustType(top *schema) {
	description := top.Description
	walk(top, func(s *schema) {
		s.Description = ""
		untieTolerantLists(s)
		completeMetadata(s)
	})
	relaxRequired(top, nil)
	top.Description = description
}

func untieTolerantLists(s *schema) {
	for _, name := range tolerant {
		list, ok := s.Properties[name]
		if !ok || list.XListType == nil {
			continue
		}
		list.XListType, list.XListMapKeys = pointerTo("atomic"), nil
		s.Properties[name] = list
	}
}

// relaxRequired keeps a field required only if it is a list, or a key of the list that s is an item of. For any other
// field, absence decodes to a zero value, and whether that is allowed differs from field to field: the cluster knows.
func relaxRequired(s *schema, keys []string) {
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool {
		return s.Properties[name].Type != "array" && !slices.Contains(keys, name)
	})
	for name, child := range s.Properties {
		relaxRequired(&child, nil)
		s.Properties[name] = child
	}
	if s.Items != nil && s.Items.Schema != nil {
		relaxRequired(s.Items.Schema, s.XListMapKeys)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		relaxRequired(s.AdditionalProperties.Schema, nil)
	}
}

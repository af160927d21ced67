package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schema = apiextensionsv1.JSONSchemaProps

// borrowed are fields of Kubernetes' own types, which Kubernetes documents.
var borrowed = map[string]string{
	"spec.selector":             "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/",
	"spec.template":             "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-template-v1/#PodTemplateSpec",
	"spec.volumeClaimTemplates": "https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/persistent-volume-claim-v1/",
	"status.conditions":         "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/condition/",
}

var (
	extension = regexp.MustCompile(`Extension of apps/v1, since (v[0-9.]+[0-9])`)
	extended  = regexp.MustCompile(`extensions of apps/v1, since (v[0-9.]+[0-9])`)
)

// field is an entry of the reference.
type field struct {
	path   string
	schema *schema
	// origin says since when the field is there; that of an extension holds for all below it.
	origin string
	rules  []string
}

// reference lists the fields of metadata, spec and status, in this order.
func reference(root *schema) string {
	rules := map[string][]string{}
	collectRules("", root, rules)
	var out strings.Builder
	for _, name := range []string{"metadata.name", "metadata.generateName"} {
		write(&out, field{path: name, schema: &schema{Type: "string"}, origin: "as apps/v1", rules: rules[name]})
	}
	for _, name := range []string{"spec", "status"} {
		child := root.Properties[name]
		writeFields(&out, name, &child, "as apps/v1", rules)
	}
	return out.String()
}

// writeFields writes an entry for each field of an object and then for what is in it.
func writeFields(out *strings.Builder, parent string, object *schema, origin string, rules map[string][]string) {
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		child := object.Properties[name]
		f := field{path: parent + "." + name, schema: &child, origin: originOf(&child, origin)}
		f.rules = append(schemaRules(&child), rules[f.path]...)
		_, isBorrowed := borrowed[f.path]
		if isBorrowed {
			f.rules = append(f.rules, rulesBelow(f.path, rules)...)
		}
		write(out, f)
		if isBorrowed {
			continue
		}
		inherited := origin
		if extension.MatchString(child.Description) {
			inherited = f.origin
		}
		if child.Items != nil {
			writeFields(out, f.path+"[]", child.Items.Schema, inherited, rules)
		}
		writeFields(out, f.path, &child, inherited, rules)
	}
}

func originOf(s *schema, inherited string) string {
	if match := extension.FindStringSubmatch(s.Description); match != nil {
		return "extension, since " + match[1]
	}
	if match := extended.FindStringSubmatch(s.Description); match != nil {
		return "as apps/v1, extended since " + match[1]
	}
	return inherited
}

func write(out *strings.Builder, f field) {
	facts := []string{typeName(f.schema)}
	if f.schema.Default != nil {
		facts = append(facts, "default `"+string(f.schema.Default.Raw)+"`")
	}
	fmt.Fprintf(out, "### `%s`\n\n*%s*\n\n", f.path, strings.Join(append(facts, f.origin), " · "))
	if f.schema.Description != "" {
		fmt.Fprintf(out, "%s\n\n", escape(f.schema.Description))
	}
	if link, ok := borrowed[f.path]; ok {
		fmt.Fprintf(out, "Its fields are [those of Kubernetes](%s).\n\n", link)
	}
	for _, rule := range f.rules {
		fmt.Fprintf(out, "- %s\n", escape(rule))
	}
	if len(f.rules) > 0 {
		out.WriteString("\n")
	}
}

func typeName(s *schema) string {
	switch {
	case s.XIntOrString:
		return "integer or string"
	case s.Type == "array":
		return "list of " + typeName(s.Items.Schema) + "s"
	case s.Format != "":
		return s.Type + " (" + s.Format + ")"
	default:
		return s.Type
	}
}

// escape keeps placeholders such as <name> from being taken for HTML.
func escape(text string) string { return strings.ReplaceAll(text, "<", "&lt;") }

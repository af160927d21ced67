package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// collectRules files the message of each CEL rule under the field that it points at.
func collectRules(path string, s *schema, rules map[string][]string) {
	for _, rule := range s.XValidations {
		target := strings.TrimPrefix(path+rule.FieldPath, ".")
		rules[target] = append(rules[target], rule.Message)
	}
	for name, child := range s.Properties {
		collectRules(path+"."+name, &child, rules)
	}
	if s.Items != nil && s.Items.Schema != nil {
		collectRules(path+"[]", s.Items.Schema, rules)
	}
}

// rulesBelow are the rules about fields in a type that has no entries of its own.
func rulesBelow(path string, rules map[string][]string) []string {
	var below []string
	for _, target := range slices.Sorted(maps.Keys(rules)) {
		name, ok := strings.CutPrefix(target, path+".")
		if !ok {
			continue
		}
		for _, rule := range rules[target] {
			below = append(below, "`"+name+"`: "+rule)
		}
	}
	return below
}

// schemaRules puts the bounds of a schema into words. The range of an int32 goes without saying.
func schemaRules(s *schema) []string {
	var rules []string
	if s.Minimum != nil && *s.Minimum != math.MinInt32 {
		rules = append(rules, fmt.Sprintf("at least %v", *s.Minimum))
	}
	if s.Maximum != nil && *s.Maximum != math.MaxInt32 {
		rules = append(rules, fmt.Sprintf("at most %v", *s.Maximum))
	}
	if s.MaxLength != nil {
		rules = append(rules, fmt.Sprintf("at most %d characters", *s.MaxLength))
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, value := range s.Enum {
			values = append(values, "`"+strings.Trim(string(value.Raw), `"`)+"`")
		}
		rules = append(rules, "one of "+strings.Join(values, ", "))
	}
	return rules
}

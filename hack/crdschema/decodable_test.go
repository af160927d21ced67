package main

import (
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
)

// TestQuantityPatternIsDecodable: whatever the pattern lets pass, Go reads.
func TestQuantityPatternIsDecodable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(quantityPattern).Draw(t, "quantity")
		if _, err := resource.ParseQuantity(strings.TrimSpace(text)); err != nil {
			t.Fatalf("the pattern lets %q pass, but: %v", text, err)
		}
	})
}

// TestQuantityPatternIsComplete: whatever Go writes and people write, the pattern lets pass.
func TestQuantityPatternIsComplete(t *testing.T) {
	pattern := regexp.MustCompile(quantityPattern)
	for _, text := range []string{"1", "0", "-1", "+5", "0.5", ".5", "5.", "100m", "1Gi", "128Mi", "1E", "1e3", "1E-3", "2.5e+10", "1k", "3n", "7u", " 1 "} {
		if !pattern.MatchString(text) {
			t.Errorf("the pattern refuses %q", text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		scale := resource.Scale(rapid.IntRange(-9, 9).Draw(t, "scale"))
		format := rapid.SampledFrom([]resource.Format{resource.DecimalSI, resource.BinarySI, resource.DecimalExponent}).Draw(t, "format")
		quantity := resource.NewScaledQuantity(rapid.Int64().Draw(t, "value"), scale)
		quantity.Format = format
		if text := quantity.String(); !pattern.MatchString(text) {
			t.Fatalf("the pattern refuses %q, which Go writes", text)
		}
	})
}

package api

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// TestNoFieldIsUnknown sends a set of apps/v1 with every field of every type set, those of the template and the claims
// included. Its values are nonsense and refused, but no field may be unknown: an unknown field is refused by kubectl and
// silently dropped by other clients.
func TestNoFieldIsUnknown(t *testing.T) {
	o := newOracle(t)
	seed := rand.Int64()
	t.Logf("seed %d", seed)
	set := &appsv1.StatefulSet{}
	randfill.NewWithSeed(seed).NilChance(0).NumElements(1, 1).Funcs(fillWords, fillQuantity, fillTime, fillPort, fillRaw).Fill(&set.Spec)
	m := manifest{"metadata": map[string]any{"name": "web"}, "spec": toJSON(t, set.Spec)}
	answer := o.create(t.Context(), oursVersion, m)
	if answer.accepted() {
		t.Fatal("a set full of nonsense was accepted")
	}
	if strings.Contains(answer.err.Error(), "unknown field") {
		t.Error(answer.err)
	}
}

func fillWords(s *string, _ randfill.Continue) { *s = "word" }

func fillQuantity(q *resource.Quantity, c randfill.Continue) {
	*q = *resource.NewQuantity(c.Int63(), resource.DecimalSI)
}

func fillTime(at *metav1.Time, _ randfill.Continue) { *at = metav1.NewTime(time.Unix(0, 0)) }

func fillPort(port *intstr.IntOrString, _ randfill.Continue) { *port = intstr.FromString("word") }

func fillRaw(fields *metav1.FieldsV1, _ randfill.Continue) {
	fields.SetRawBytes([]byte(`{"f:a":{}}`))
}

func toJSON(t *testing.T, value any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	return integers(object).(map[string]any)
}

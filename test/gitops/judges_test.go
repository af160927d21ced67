package gitops

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// root is the repository's folder.
var root = filepath.Join("..", "..")

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// argo returns what the script says of a set, for people and for Argo CD.
func argo(t testing.TB, set *unstructured.Unstructured) (status, message string) {
	t.Helper()
	// The same libraries as Argo CD gives to its scripts: nothing that reaches outside.
	vm := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer vm.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString} {
		if err := vm.CallByParam(lua.P{Fn: vm.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	vm.SetGlobal("obj", value(vm, set.Object))
	if err := vm.DoString(string(read(t, "gitops", "argocd-health.lua"))); err != nil {
		t.Fatalf("running the script: %v", err)
	}
	health, ok := vm.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returns %v, want a table", vm.Get(-1))
	}
	return lua.LVAsString(health.RawGetString("status")), lua.LVAsString(health.RawGetString("message"))
}

// value makes of an object what Argo CD makes of it: tables, strings, numbers and booleans.
func value(vm *lua.LState, of any) lua.LValue {
	switch of := of.(type) {
	case map[string]any:
		table := vm.NewTable()
		for key, field := range of {
			table.RawSetString(key, value(vm, field))
		}
		return table
	case []any:
		table := vm.NewTable()
		for _, item := range of {
			table.Append(value(vm, item))
		}
		return table
	case string:
		return lua.LString(of)
	case bool:
		return lua.LBool(of)
	case int64:
		return lua.LNumber(of)
	case float64:
		return lua.LNumber(of)
	case nil:
		return lua.LNil
	default:
		panic(fmt.Sprintf("an object with a %T in it", of))
	}
}

// healthCheck is an entry of healthCheckExprs in a Kustomization of Flux.
type healthCheck struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	InProgress string `json:"inProgress"`
	Failed     string `json:"failed"`
	Current    string `json:"current"`
}

// flux judges as Flux does by RFC 0009: a spec that was not observed yet is in progress; else the first expression that is
// true counts, in this order; if none is, it is in progress. The variables are the top-level fields of the object.
type flux struct{ inProgress, failed, current cel.Program }

func newFlux(t testing.TB) flux {
	t.Helper()
	var kustomization struct {
		Spec struct {
			HealthCheckExprs []healthCheck `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(read(t, "gitops", "flux-health.yaml"), &kustomization); err != nil {
		t.Fatal(err)
	}
	checks := kustomization.Spec.HealthCheckExprs
	if len(checks) != 1 || checks[0].APIVersion != "apps.rollcall.dev/v1" || checks[0].Kind != "StatefulSet" {
		t.Fatalf("the checks are for %+v, want one for our kind", checks)
	}
	return flux{parse(t, checks[0].InProgress), parse(t, checks[0].Failed), parse(t, checks[0].Current)}
}

// parse takes an expression as Flux does: parsed and not checked, since it does not know the fields of a kind.
func parse(t testing.TB, expression string) cel.Program {
	t.Helper()
	env, err := cel.NewEnv(cel.DefaultUTCTimeZone(true), cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders())
	if err != nil {
		t.Fatal(err)
	}
	parsed, issues := env.Parse(expression)
	if issues.Err() != nil {
		t.Fatalf("parsing %s: %v", expression, issues.Err())
	}
	program, err := env.Program(parsed)
	if err != nil {
		t.Fatalf("parsing %s: %v", expression, err)
	}
	return program
}

func (f flux) judge(set *unstructured.Unstructured) (string, error) {
	observed, found, _ := unstructured.NestedInt64(set.Object, "status", "observedGeneration")
	if found && observed != set.GetGeneration() {
		return inProgress, nil
	}
	for _, check := range []struct {
		expression cel.Program
		verdict    string
	}{{f.inProgress, inProgress}, {f.failed, "Failed"}, {f.current, "Current"}} {
		answer, _, err := check.expression.Eval(set.Object)
		if err != nil {
			return "", err
		}
		isTrue, ok := answer.Value().(bool)
		if !ok {
			return "", fmt.Errorf("the expression for %s answers %v", check.verdict, answer)
		}
		if isTrue {
			return check.verdict, nil
		}
	}
	return inProgress, nil
}

const inProgress = "InProgress"

// asObject is a set as the API server shows it.
func asObject(t testing.TB, set any) *unstructured.Unstructured {
	t.Helper()
	data, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return object
}

// Package conformance holds the API server of the model checker against the real one.
//
// What internal/simulation proves is worth as much as its model. Here both get the same commands, drawn at random: what
// the operator does goes through internal/execute to the real server and through the model's own reading of it to the
// model's; what nodes, users and strangers do is a step of the model and a request to the server. After every command
// the answers and all objects must agree, once the garbage collectors of both are done.
//
//	go test ./test/conformance -seed 17 -commands 500 -v
package conformance

import (
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	cluster.Main(m)
}

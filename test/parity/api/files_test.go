package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWholeManifests sends whole manifests of apps/v1 with nothing changed but their apiVersion.
func TestWholeManifests(t *testing.T) {
	o := newOracle(t)
	files, err := filepath.Glob(filepath.Join("testdata", "*.yaml"))
	if err != nil || len(files) < 4 {
		t.Fatalf("found %d manifests in testdata (%v), want those of web, cassandra, zookeeper and mysql", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m := readSet(t, file)
			ours, theirs := o.create(t.Context(), oursVersion, m), o.create(t.Context(), theirsVersion, m)
			o.judge(t, verdict{}, m, ours, theirs)
		})
	}
}

// readSet returns the one StatefulSet in a file, without its apiVersion.
func readSet(t *testing.T, file string) manifest {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		if m := parse(t, document); m["kind"] == "StatefulSet" && m["apiVersion"] == theirsVersion {
			return m
		}
	}
	t.Fatalf("%s has no StatefulSet of %s", file, theirsVersion)
	return nil
}

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// write makes an image of two programs and returns its folder and what was printed.
func write(t *testing.T, content string) (string, string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "rollcall")
	if err := os.WriteFile(program, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "image")
	var out bytes.Buffer
	args := []string{"image", "-output", folder, "-version", "v1.2.3", "-revision", "abc", "linux/amd64=" + program, "linux/arm64=" + program}
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	return folder, strings.TrimSpace(out.String())
}

// TestImageIsReproducible: the same programs make the same image, whenever and wherever; other programs another.
func TestImageIsReproducible(t *testing.T) {
	_, one := write(t, "program")
	_, two := write(t, "program")
	_, other := write(t, "another program")
	if one != two {
		t.Errorf("digests %s and %s of the same program", one, two)
	}
	if one == other {
		t.Errorf("digest %s of different programs", one)
	}
}

// TestImage: it is valid, for both platforms, and runs the program as nobody in particular.
func TestImage(t *testing.T) {
	folder, digest := write(t, "program")
	path, err := layout.FromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := v1.NewHash(digest)
	if err != nil {
		t.Fatal(err)
	}
	root, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	index, err := root.ImageIndex(hash)
	if err != nil {
		t.Fatalf("what was printed is not in the layout: %v", err)
	}
	if err := validate.Index(index); err != nil {
		t.Errorf("the index is not valid: %v", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, entry := range manifest.Manifests {
		platforms = append(platforms, entry.Platform.String())
		image, err := index.Image(entry.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, image)
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func checkImage(t *testing.T, image v1.Image) {
	t.Helper()
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.Config.User != nonroot || !cmp.Equal(file.Config.Entrypoint, []string{"/rollcall"}) || !file.Created.IsZero() {
		t.Errorf("user %q, entry point %q, created %s", file.Config.User, file.Config.Entrypoint, file.Created)
	}
	if diff := cmp.Diff(labels("v1.2.3", "abc"), file.Config.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	want := map[string]int64{"etc/group": 0o644, "etc/passwd": 0o644, "rollcall": 0o755}
	if diff := cmp.Diff(want, files(t, image)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func files(t *testing.T, image v1.Image) map[string]int64 {
	t.Helper()
	content := mutate.Extract(image)
	defer content.Close()
	found := map[string]int64{}
	for reader := tar.NewReader(content); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = header.Mode
	}
}

// TestSBOM: it lists what this very test binary is made of.
func TestSBOM(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var one, two bytes.Buffer
	for _, out := range []io.Writer{&one, &two} {
		if err := run([]string{"sbom", self}, out); err != nil {
			t.Fatal(err)
		}
	}
	if one.String() != two.String() {
		t.Error("two bills of the same program differ")
	}
	var bom struct {
		BOMFormat, SpecVersion string
		Components             []struct{ Name, PURL string }
		Dependencies           []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(one.Bytes(), &bom); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, component := range bom.Components {
		names[component.Name] = strings.HasPrefix(component.PURL, "pkg:golang/"+component.Name+"@")
	}
	for _, want := range []string{"std", "github.com/google/go-containerregistry", "github.com/CycloneDX/cyclonedx-go"} {
		if !names[want] {
			t.Errorf("%s is not listed, or without its address", want)
		}
	}
	if bom.BOMFormat != "CycloneDX" || bom.SpecVersion != "1.6" || len(bom.Dependencies[0].DependsOn) != len(bom.Components) {
		t.Errorf("format %s %s, %d dependencies of %d components", bom.BOMFormat, bom.SpecVersion, len(bom.Dependencies[0].DependsOn), len(bom.Components))
	}
}

func TestMistakes(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"nothing":           {nil, "Usage:"},
		"no programs":       {[]string{"image", "-output", "x", "-version", "v1"}, "needs -output, -version and programs"},
		"no platform":       {[]string{"image", "-output", "x", "-version", "v1", "rollcall"}, "as linux/amd64=PROGRAM does"},
		"no such program":   {[]string{"image", "-output", "x", "-version", "v1", "linux/amd64=missing"}, "open missing"},
		"no program at all": {[]string{"sbom", "release_test.go"}, "reading what release_test.go is made of"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := run(test.args, io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

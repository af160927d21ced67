package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nonroot is the user that images without a distribution usually have for this.
const nonroot = "65532:65532"

// program is one program for one platform.
type program struct {
	platform string
	content  []byte
}

func labels(version, revision string) map[string]string {
	labels := map[string]string{
		"org.opencontainers.image.title":    "rollcall",
		"org.opencontainers.image.source":   "https://github.com/rollcall-dev/rollcall",
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.version":  version,
	}
	if revision != "" {
		labels["org.opencontainers.image.revision"] = revision
	}
	return labels
}

// writeLayout writes an index of one image for each program, and returns its digest.
func writeLayout(folder string, labels map[string]string, programs []program) (v1.Hash, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		image, platform, err := newImage(p, labels)
		if err != nil {
			return v1.Hash{}, fmt.Errorf("making the image for %s: %w", p.platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	index = mutate.Annotations(index, labels).(v1.ImageIndex)
	if err := os.RemoveAll(folder); err != nil {
		return v1.Hash{}, err
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return v1.Hash{}, err
	}
	name := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": labels["org.opencontainers.image.version"]})
	if err := path.AppendIndex(index, name); err != nil {
		return v1.Hash{}, err
	}
	return index.Digest()
}

// newImage is a program and nothing else: no shell, no packages, nothing to attack or to patch.
func newImage(p program, labels map[string]string) (v1.Image, *v1.Platform, error) {
	platform, err := v1.ParsePlatform(p.platform)
	if err != nil {
		return nil, nil, err
	}
	content, err := archive(p.content)
	if err != nil {
		return nil, nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{CreatedBy: "rollcall release"}})
	if err != nil {
		return nil, nil, err
	}
	image, err = mutate.ConfigFile(image, configure(image, platform, labels))
	return image, platform, err
}

func configure(image v1.Image, platform *v1.Platform, labels map[string]string) *v1.ConfigFile {
	// An image in memory always has a configuration.
	config, _ := image.ConfigFile()
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	config.Config = v1.Config{User: nonroot, Entrypoint: []string{"/rollcall"}, WorkingDir: "/", Labels: labels}
	return config
}

// archive holds the program and who may run it, as of no time at all.
func archive(content []byte) ([]byte, error) {
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for _, file := range []struct {
		name    string
		mode    int64
		content []byte
	}{
		{"etc/group", 0o644, []byte("root:x:0:\nnonroot:x:65532:\n")},
		{"etc/passwd", 0o644, []byte("root:x:0:0:root:/:/none\nnonroot:x:65532:65532:nonroot:/:/none\n")},
		{"rollcall", 0o755, content},
	} {
		header := &tar.Header{Name: file.name, Mode: file.mode, Size: int64(len(file.content)), ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
		if err := writer.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := writer.Write(file.content); err != nil {
			return nil, err
		}
	}
	err := writer.Close()
	return out.Bytes(), err
}

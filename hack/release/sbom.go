package main

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"io"
	"runtime/debug"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM lists the modules that are in a program: not those that could be, but those that the compiler put there.
func writeSBOM(program string, out io.Writer) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("reading what %s is made of: %w", program, err)
	}
	encoder := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	return encoder.EncodeVersion(newBOM(info), cyclonedx.SpecVersion1_6)
}

func newBOM(info *debug.BuildInfo) *cyclonedx.BOM {
	main := newComponent(cyclonedx.ComponentTypeApplication, &info.Main)
	// The compiler is in the program, too: the standard library comes from it.
	parts := []cyclonedx.Component{newComponent(cyclonedx.ComponentTypeLibrary, &debug.Module{Path: "std", Version: info.GoVersion})}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		parts = append(parts, newComponent(cyclonedx.ComponentTypeLibrary, module))
	}
	var refs []string
	for _, part := range parts {
		refs = append(refs, part.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &main}
	bom.Components = &parts
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	return bom
}

func newComponent(kind cyclonedx.ComponentType, module *debug.Module) cyclonedx.Component {
	version := cmp.Or(module.Version, "(devel)")
	url := fmt.Sprintf("pkg:golang/%s@%s", module.Path, version)
	component := cyclonedx.Component{Type: kind, BOMRef: url, Name: module.Path, Version: version, PackageURL: url}
	if module.Sum != "" {
		// The sum of go.sum is one over many files, which CycloneDX has no algorithm for.
		component.Properties = &[]cyclonedx.Property{{Name: "golang:sum", Value: module.Sum}}
	}
	return component
}

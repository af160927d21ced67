// Command release makes what a release consists of besides programs: the container image, as an OCI layout and without a
// container engine, and the bill of materials. It is a module of its own, so that the operator does not depend on what it
// needs.
//
// The same programs make the same image, bit for bit: no times, no names of the machine, files in a fixed order.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const usage = `Usage:
  release image -output DIR -version VERSION [-revision COMMIT] OS/ARCH=PROGRAM...
        write the image of these programs as an OCI layout, and print its digest
  release sbom PROGRAM
        print the bill of materials of a program (CycloneDX), from what the Go compiler recorded in it`

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	switch {
	case len(args) > 0 && args[0] == "image":
		return runImage(args[1:], out)
	case len(args) == 2 && args[0] == "sbom":
		return writeSBOM(args[1], out)
	default:
		return errors.New("what is wanted is not clear\n" + usage)
	}
}

func runImage(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	output := flags.String("output", "", "folder for the layout; what is in it is replaced")
	version := flags.String("version", "", "version of the programs")
	revision := flags.String("revision", "", "commit that they were built from")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *output == "" || *version == "" || flags.NArg() == 0 {
		return errors.New("an image needs -output, -version and programs\n" + usage)
	}
	var programs []program
	for _, argument := range flags.Args() {
		platform, path, ok := strings.Cut(argument, "=")
		if !ok {
			return fmt.Errorf("%q does not say which program is for which platform, as linux/amd64=PROGRAM does", argument)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		programs = append(programs, program{platform: platform, content: content})
	}
	digest, err := writeLayout(*output, labels(*version, *revision), programs)
	if err != nil {
		return fmt.Errorf("writing the image to %s: %w", *output, err)
	}
	fmt.Fprintln(out, digest)
	return nil
}

package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Formats that -o knows; each verb says which of them it has.
const (
	formatJSON = "json"
	formatYAML = "yaml"
	formatName = "name"
	formatWide = "wide"
)

// checkFormat refuses a format that a verb does not have. None at all is for people.
func checkFormat(format string, known ...string) error {
	if format == "" || slices.Contains(known, format) {
		return nil
	}
	return failf("-o %s is not known here: use %s, or leave it away", format, strings.Join(known, " or "))
}

// exactly takes these arguments, no more and no fewer.
func exactly(names ...string) cobra.PositionalArgs { return between(len(names), names...) }

// between takes these arguments, of which the first few must be there.
func between(least int, names ...string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return failf("%s is missing: see \"%s --help\"", names[len(args)], command.CommandPath())
		case len(args) > len(names):
			return failf("%q is one argument too many: see \"%s --help\"", args[len(names)], command.CommandPath())
		default:
			return nil
		}
	}
}

// mustComplete has a flag completed.
func mustComplete(command *cobra.Command, flag string, propose completion) {
	if err := command.RegisterFlagCompletionFunc(flag, propose); err != nil {
		panic("a completion for a flag that is not there: " + flag) // a mistake in the program
	}
}

// oneOf completes with fixed words.
func oneOf(words ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// silence keeps the exit code of an error and nothing else: what it says was said in another form.
func silence(err error) error {
	if err == nil {
		return nil
	}
	var known *failure
	if errors.As(err, &known) {
		return ended(known.code)
	}
	return err
}

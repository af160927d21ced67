package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// edit changes the spec of a set, if it is still the one that was read: what somebody else changed meanwhile is not
// overwritten. The status may have changed; it does all the time.
func (p *Program) edit(ctx context.Context, c client.Client, set *v1.StatefulSet, dryRun dryRun, changes ...operation) error {
	patch, err := json.Marshal(append([]operation{{"test", "/metadata/generation", set.Generation}}, changes...))
	if err != nil {
		return fmt.Errorf("encoding the change of %s/%s: %w", resource, set.Name, err)
	}
	edited := set.DeepCopy()
	err = c.Patch(ctx, edited, client.RawPatch(types.JSONPatchType, patch), dryRun.options()...)
	if err == nil {
		return nil
	}
	now := &v1.StatefulSet{}
	if readErr := c.Get(ctx, client.ObjectKeyFromObject(set), now); readErr == nil && now.Generation != set.Generation {
		return failf("%s/%s was changed by somebody else at the same time: look again and repeat the command", resource, set.Name)
	}
	return fmt.Errorf("changing %s/%s: %w", resource, set.Name, err)
}

// merge changes fields that nobody else has a stake in.
func (p *Program) merge(ctx context.Context, c client.Client, set *v1.StatefulSet, change any) error {
	patch, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("encoding the change of %s/%s: %w", resource, set.Name, err)
	}
	if err := c.Patch(ctx, set.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("changing %s/%s: %w", resource, set.Name, err)
	}
	return nil
}

// dryRun says how much of a change is made.
type dryRun string

const (
	// dryRunNone makes the change.
	dryRunNone dryRun = "none"
	// dryRunClient sends nothing.
	dryRunClient dryRun = "client"
	// dryRunServer has the API server check the change and forget it.
	dryRunServer dryRun = "server"
)

// addDryRun adds the flag --dry-run.
func addDryRun(command *cobra.Command, value *string) {
	flags := command.Flags()
	flags.StringVar(value, "dry-run", string(dryRunNone),
		"none, client (show the change and send nothing) or server (have the API server check it and store nothing).")
	flags.Lookup("dry-run").NoOptDefVal = string(dryRunClient)
	mustComplete(command, "dry-run", oneOf(string(dryRunNone), string(dryRunClient), string(dryRunServer)))
}

// parseDryRun refuses what is none of the three.
func parseDryRun(value string) (dryRun, error) {
	switch parsed := dryRun(value); parsed {
	case dryRunNone, dryRunClient, dryRunServer:
		return parsed, nil
	default:
		return "", failf("--dry-run=%s is not known: use none, client or server", value)
	}
}

func (d dryRun) options() []client.PatchOption {
	if d == dryRunServer {
		return []client.PatchOption{client.DryRunAll}
	}
	return nil
}

// suffix is what a line about a change ends with when it was not made.
func (d dryRun) suffix() string {
	if d == dryRunNone {
		return ""
	}
	return fmt.Sprintf(" (%s dry run)", string(d))
}

// said prints the one line about what was done.
func (p *Program) said(set *v1.StatefulSet, format string, args ...any) {
	fmt.Fprintf(p.Out, "%s/%s %s\n", resource, set.Name, fmt.Sprintf(format, args...))
}

// open connects and reads the set that an argument names.
func (p *Program) open(ctx context.Context, argument string) (client.WithWatch, *v1.StatefulSet, error) {
	c, err := p.client()
	if err != nil {
		return nil, nil, err
	}
	set, err := p.readSet(ctx, c, argument)
	return c, set, err
}

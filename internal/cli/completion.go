package cli

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

const (
	// completer is the program that kubectl asks to complete command lines of the plugin.
	completer = "kubectl_complete-rollcall"
	// completionPatience is how long somebody who pressed Tab is kept waiting.
	completionPatience = 3 * time.Second
)

// completion proposes words for an argument or a flag.
type completion = func(command *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// registerCompletions has the flags that all verbs share completed.
func (p *Program) registerCompletions(root *cobra.Command) {
	for flag, propose := range map[string]completion{"namespace": p.completeNamespaces, "context": p.completeContexts} {
		if err := root.RegisterFlagCompletionFunc(flag, propose); err != nil {
			panic("a completion for a flag that is not there: " + flag) // a mistake in the program
		}
	}
}

// completeSets proposes the names of sets for the first argument.
func (p *Program) completeSets(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.propose(command.Context(), func(ctx context.Context, c client.Client) ([]string, error) {
		namespace, err := p.namespace()
		if err != nil {
			return nil, err
		}
		var sets v1.StatefulSetList
		err = c.List(ctx, &sets, client.InNamespace(namespace))
		names := make([]string, 0, len(sets.Items))
		for i := range sets.Items {
			names = append(names, sets.Items[i].Name)
		}
		return names, err
	})
}

// completeRevisions proposes the numbers of the revisions of the set that the first argument names.
func (p *Program) completeRevisions(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.propose(command.Context(), func(ctx context.Context, c client.Client) ([]string, error) {
		set, err := p.readSet(ctx, c, args[0])
		if err != nil {
			return nil, err
		}
		revisions, err := readRevisions(ctx, c, set)
		numbers := make([]string, 0, len(revisions))
		for _, revision := range revisions {
			numbers = append(numbers, strconv.FormatInt(revision.Revision, 10))
		}
		return numbers, err
	})
}

// propose asks the API server, for a moment. Whoever presses Tab wants no error messages.
func (p *Program) propose(ctx context.Context, read func(context.Context, client.Client) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	c, err := p.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words, err := read(ctx, c)
	if err != nil {
		cobra.CompDebugln(err.Error(), true)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeNamespaces proposes the namespaces of the cluster.
func (p *Program) completeNamespaces(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.propose(command.Context(), func(ctx context.Context, c client.Client) ([]string, error) {
		var namespaces corev1.NamespaceList
		err := c.List(ctx, &namespaces)
		names := make([]string, 0, len(namespaces.Items))
		for i := range namespaces.Items {
			names = append(names, namespaces.Items[i].Name)
		}
		return names, err
	})
}

// completeContexts proposes the contexts of the kubeconfig.
func (p *Program) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	config, err := p.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(config.Contexts)), cobra.ShellCompDirectiveNoFileComp
}

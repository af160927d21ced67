package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refused says what the API server would not do. An answer that is about the request is put into words here; anything
// else is trouble of the general kind.
func refused(what string, err error) error {
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return failf("%s: %s", what, rootMessage(err))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// completeBuiltIn proposes the names of sets of apps/v1 for the first argument.
func (p *Program) completeBuiltIn(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.propose(command.Context(), func(ctx context.Context, c client.Client) ([]string, error) {
		namespace, err := p.namespace()
		if err != nil {
			return nil, err
		}
		var sets appsv1.StatefulSetList
		err = c.List(ctx, &sets, client.InNamespace(namespace))
		names := make([]string, 0, len(sets.Items))
		for i := range sets.Items {
			names = append(names, sets.Items[i].Name)
		}
		return names, err
	})
}

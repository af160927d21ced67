package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// changeCause is the annotation that history shows as the reason of a change.
const changeCause = "kubernetes.io/change-cause"

// setImage changes images of the pod template.
type setImage struct {
	*Program
	cause  string
	dryRun string
}

func newSetImageCommand(p *Program) *cobra.Command {
	s := &setImage{Program: p}
	command := &cobra.Command{
		Use:   "set-image NAME [CONTAINER=]IMAGE...",
		Short: "Change images of the pod template",
		Long: "Change images of the pod template, which starts an update. (\"kubectl set image\" knows the built-in kinds only.) The\n" +
			"container may be left away when there is just one.",
		Example: "  kubectl rollcall set-image web nginx:1.29 && kubectl rollcall status web\n\n" +
			"  kubectl rollcall set-image web web=nginx:1.29 sidecar=envoy:1.36 --cause=\"CVE fix\"",
		Args: func(command *cobra.Command, args []string) error {
			if len(args) < 2 {
				return between(2, "NAME", "IMAGE")(command, args)
			}
			return nil
		},
		ValidArgsFunction: p.completeSets,
		RunE:              func(command *cobra.Command, args []string) error { return s.run(command.Context(), args[0], args[1:]) },
	}
	command.Flags().StringVar(&s.cause, "cause", "", "Why, for history: becomes the annotation "+changeCause+".")
	addDryRun(command, &s.dryRun)
	return command
}

func (s *setImage) run(ctx context.Context, argument string, images []string) error {
	mode, err := parseDryRun(s.dryRun)
	if err != nil {
		return err
	}
	c, set, err := s.open(ctx, argument)
	if err != nil {
		return err
	}
	changes, err := imageChanges(set, images)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		s.said(set, "has these images already")
		return nil
	}
	if mode != dryRunClient {
		if err := s.edit(ctx, c, set, mode, append(changes, causeChange(set, s.cause)...)...); err != nil {
			return err
		}
	}
	s.said(set, "image updated%s%s", mode.suffix(), holdNote(set))
	return nil
}

// imageChanges are the operations by which containers get new images; none for those that have them.
func imageChanges(set *v1.StatefulSet, images []string) ([]operation, error) {
	var changes []operation
	for _, argument := range images {
		name, image, err := splitImage(set, argument)
		if err != nil {
			return nil, err
		}
		path, before, err := findContainer(set, name)
		if err != nil {
			return nil, err
		}
		if before != image {
			changes = append(changes, operation{"replace", path + "/image", image})
		}
	}
	return changes, nil
}

// splitImage takes CONTAINER=IMAGE apart; the container may be left away when there is just one.
func splitImage(set *v1.StatefulSet, argument string) (container, image string, err error) {
	containers := set.Spec.Template.Spec.Containers
	container, image, isNamed := strings.Cut(argument, "=")
	switch {
	case !isNamed && len(containers) == 1:
		container, image = containers[0].Name, argument
	case !isNamed:
		return "", "", failf("%s is for which container? write CONTAINER=%[1]s; %s/%s has %s", argument, resource, set.Name, containerNames(set))
	}
	if strings.TrimSpace(image) == "" || container == "" {
		return "", "", failf("%q names no image: write CONTAINER=IMAGE, as in web=nginx:1.29", argument)
	}
	return container, image, nil
}

// findContainer returns where in the set a container is, and its image.
func findContainer(set *v1.StatefulSet, name string) (path, image string, err error) {
	spec := &set.Spec.Template.Spec
	for field, containers := range map[string][]corev1.Container{"containers": spec.Containers, "initContainers": spec.InitContainers} {
		for i := range containers {
			if containers[i].Name == name {
				return fmt.Sprintf("/spec/template/spec/%s/%d", field, i), containers[i].Image, nil
			}
		}
	}
	return "", "", failf("%s/%s has no container %s: it has %s", resource, set.Name, name, containerNames(set))
}

func containerNames(set *v1.StatefulSet) string {
	var names []string
	for _, containers := range [][]corev1.Container{set.Spec.Template.Spec.InitContainers, set.Spec.Template.Spec.Containers} {
		for i := range containers {
			names = append(names, containers[i].Name)
		}
	}
	return strings.Join(names, ", ")
}

// causeChange notes why, in the same write, so that the new revision gets it. Without a cause it takes back that of the last
// change, which is not that of this one.
func causeChange(set *v1.StatefulSet, cause string) []operation {
	path := "/metadata/annotations/" + strings.ReplaceAll(changeCause, "/", "~1")
	switch before, isThere := set.Annotations[changeCause]; {
	case before == cause:
		return nil
	case cause == "" && isThere:
		return []operation{{"remove", path, nil}}
	case set.Annotations == nil:
		return []operation{{"add", "/metadata/annotations", map[string]string{changeCause: cause}}}
	default:
		return []operation{{"add", path, cause}}
	}
}

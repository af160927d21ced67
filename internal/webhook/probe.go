package webhook

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// templateRoot is where a PodTemplate has what a set has at spec.template.
	templateRoot = "template"
	// ephemeralClaim is where an ephemeral volume has what a set has in volumeClaimTemplates.
	ephemeralClaim = ".ephemeral.volumeClaimTemplate"
)

var volumePath = regexp.MustCompile(`^template\.spec\.volumes\[(\d+)\](.*)$`)

// probe is a template as it is shown to the API server, and the way back from its field paths to those of the set.
type probe struct {
	namespace string
	template  corev1.PodTemplateSpec
	// claims are the indices of volumes that stand for claims, with the indices of the claims.
	claims map[int]int
}

// place puts a volume into the template and returns its index. A claim takes the place of a volume of the same name.
func (p *probe) place(volume corev1.Volume) int {
	volumes := p.template.Spec.Volumes
	for i := range volumes {
		if volumes[i].Name == volume.Name {
			volumes[i] = volume
			return i
		}
	}
	p.template.Spec.Volumes = append(volumes, volume)
	return len(volumes)
}

func (p *probe) podTemplate() *corev1.PodTemplate {
	return &corev1.PodTemplate{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "rollcall-", Namespace: p.namespace},
		Template:   p.template,
	}
}

// translate turns a field path of the PodTemplate into one of the set.
func (p *probe) translate(path string) string {
	if match := volumePath.FindStringSubmatch(path); match != nil {
		index, err := strconv.Atoi(match[1])
		if claim, ok := p.claims[index]; err == nil && ok {
			return claimPath(claim, match[2])
		}
	}
	return "spec." + path
}

// claimPath is the path in a claim of the set for a path below the volume that stands for it. What is wrong with the
// volume itself can only be its name.
func claimPath(claim int, rest string) string {
	root := fmt.Sprintf("spec.volumeClaimTemplates[%d]", claim)
	if below, ok := strings.CutPrefix(rest, ephemeralClaim); ok {
		return root + below
	}
	return root + ".metadata.name"
}

func (p *probe) translateCauses(causes []metav1.StatusCause) []metav1.StatusCause {
	for i := range causes {
		causes[i].Field = p.translate(causes[i].Field)
	}
	return causes
}

// translateWarnings turns the field path that a warning begins with, if it does.
func (p *probe) translateWarnings(warnings []string) []string {
	for i, warning := range warnings {
		if path, text, ok := strings.Cut(warning, ": "); ok && strings.HasPrefix(path, templateRoot+".") {
			warnings[i] = p.translate(path) + ": " + text
		}
	}
	return warnings
}

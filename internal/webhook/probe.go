package webhook

import (
	"fmt"
	"regexp"
	"slices"
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

// placeClaim puts the volume of a claim into the template, in the place of a volume of the same name if there is one.
// Claims of the same name, which apps/v1 allows and judges one by one, get volumes of their own.
func (p *probe) placeClaim(claim int, volume corev1.Volume) {
	volumes := p.template.Spec.Volumes
	index := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == volume.Name })
	if _, taken := p.claims[index]; taken {
		volume.Name = fmt.Sprintf("rollcall-claim-%d", claim)
		index = -1
	}
	if index < 0 {
		index, volumes = len(volumes), append(volumes, corev1.Volume{})
	}
	volumes[index] = volume
	p.claims[index], p.template.Spec.Volumes = claim, volumes
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

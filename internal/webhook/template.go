package webhook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// checkTimeout bounds the dry-run, so that the answer arrives within the five seconds that the API server waits for it.
const checkTimeout = 3 * time.Second

// Verdict is what the cluster says of a template.
type Verdict struct {
	// Causes are the reasons to refuse, with field paths of the set.
	Causes []metav1.StatusCause
	// Warnings are for the user to read; they refuse nothing.
	Warnings []string
}

// TemplateChecker asks the API server whether pod templates are valid.
type TemplateChecker struct {
	client  client.Client
	timeout time.Duration
}

// Check judges the template and the claims of a set. Claims can't change and are judged once, when the set is new
// (stored is nil); a template is judged when it is new or changed. A changed template is forgiven what the stored one
// is guilty of too, as apps/v1 does: rules that a newer cluster added must not lock anybody out of their objects.
func (c *TemplateChecker) Check(ctx context.Context, set, stored *v1.StatefulSet) Verdict {
	if stored != nil && equality.Semantic.DeepEqual(set.Spec.Template, stored.Spec.Template) {
		return Verdict{}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	verdict := c.dryRun(ctx, newProbe(set, stored == nil))
	if len(verdict.Causes) > 0 && stored != nil && len(c.dryRun(ctx, newProbe(stored, false)).Causes) > 0 {
		return Verdict{Warnings: append(verdict.Warnings, forgiven(verdict.Causes))}
	}
	return verdict
}

// dryRun sends one probe to the API server.
func (c *TemplateChecker) dryRun(ctx context.Context, p probe) Verdict {
	ctx, warnings := collectWarnings(ctx)
	err := c.client.Create(ctx, p.podTemplate(), client.DryRunAll)
	verdict := Verdict{Warnings: p.translateWarnings(warnings.list())}
	if err == nil {
		return verdict
	}
	if verdict.Causes = p.translateCauses(refusals(err)); len(verdict.Causes) == 0 {
		verdict.Warnings = append(verdict.Warnings, unchecked(err))
	}
	return verdict
}

// refusals are the causes by which the API server calls the template invalid; none, if it failed for another reason.
func refusals(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var causes []metav1.StatusCause
	for _, cause := range status.Status().Details.Causes {
		if strings.HasPrefix(cause.Field, templateRoot) {
			causes = append(causes, cause)
		}
	}
	return causes
}

func unchecked(err error) string {
	return fmt.Sprintf("spec.template: accepted unchecked, because the API server could not be asked about it: %v", err)
}

func forgiven(causes []metav1.StatusCause) string {
	return fmt.Sprintf("spec.template: accepted although invalid, because the stored one is invalid too: %s: %s",
		causes[0].Field, causes[0].Message)
}

// newProbe lays the template out as pods will get it: host name and subdomain are ours to set, and each claim is a
// volume. With checkClaims the claims take the form of ephemeral volumes, whose claim templates the API server judges
// along with the pod template.
func newProbe(set *v1.StatefulSet, checkClaims bool) probe {
	p := probe{namespace: set.Namespace, template: *set.Spec.Template.DeepCopy(), claims: map[int]int{}}
	p.template.Spec.Hostname, p.template.Spec.Subdomain = "", ""
	for i := range set.Spec.VolumeClaimTemplates {
		p.placeClaim(i, volumeFor(&set.Spec.VolumeClaimTemplates[i], checkClaims))
	}
	return p
}

func volumeFor(claim *corev1.PersistentVolumeClaim, check bool) corev1.Volume {
	volume := corev1.Volume{Name: claim.Name}
	if check {
		volume.Ephemeral = &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: *claim.Spec.DeepCopy()},
		}
	} else {
		volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}
	}
	return volume
}

package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// verdict is what both groups are expected to say.
type verdict struct {
	// change is what is changed in the base manifest.
	change string
	// refused is the field that a refusal names; "" if the manifest is accepted.
	refused string
	// theirs is the field that apps/v1 names instead, where ours is nearer to the mistake.
	theirs string
}

// decodes stands for the field of a manifest that is refused because it can't be decoded, which names none.
const decodes = "(decoding)"

// nameless is the field of a refusal by a schema's "not", whose path the API server leaves to the message.
const nameless = "<nil>"

// creates are manifests of new sets, by subject.
var creates = map[string]verdict{
	// Defaults.
	"base":                       {},
	"nothing but the essentials": {change: "delete spec.serviceName\ndelete spec.replicas"},
	"no claims":                  {change: "delete spec.volumeClaimTemplates\ndelete spec.template.spec.containers[0].volumeMounts"},
	"empty list of claims":       {change: "spec.volumeClaimTemplates = []\ndelete spec.template.spec.containers[0].volumeMounts"},
	"null for absent":            {change: "spec.replicas = null\nspec.ordinals = null\nspec.updateStrategy = null\nspec.template.metadata.annotations = null\nspec.template.spec.nodeSelector = null\nspec.template.spec.containers[0].resources = null"},
	"time stamp of a dump":       {change: "metadata.creationTimestamp = null\nspec.template.metadata.creationTimestamp = null"},
	"claim as it is dumped":      {change: "spec.volumeClaimTemplates[0].apiVersion = v1\nspec.volumeClaimTemplates[0].kind = PersistentVolumeClaim\nspec.volumeClaimTemplates[0].spec.volumeMode = Filesystem\nspec.volumeClaimTemplates[0].status = {phase: Pending}"},
	"quantity in other words":    {change: "spec.volumeClaimTemplates[0].spec.resources.requests.storage = 1024Mi"},
	"quantity as a number":       {change: "spec.volumeClaimTemplates[0].spec.resources.requests.storage = 1073741824"},
	"status is ignored":          {change: "status = {replicas: 7}"},
	"generateName":               {change: "delete metadata.name\nmetadata.generateName = web-"},
	"all fields said":            {change: "spec.podManagementPolicy = Parallel\nspec.minReadySeconds = 5\nspec.revisionHistoryLimit = 3\nspec.ordinals = {start: 4}\nspec.persistentVolumeClaimRetentionPolicy = {whenDeleted: Delete, whenScaled: Delete}\nspec.updateStrategy = {type: RollingUpdate, rollingUpdate: {partition: 2, maxUnavailable: 50%}}"},

	// Numbers.
	"replicas 0":                    {change: "spec.replicas = 0"},
	"replicas negative":             {change: "spec.replicas = -1", refused: "spec.replicas"},
	"replicas not a number":         {change: "spec.replicas = three", refused: "spec.replicas"},
	"replicas beyond int32":         {change: "spec.replicas = 3000000000", refused: "spec.replicas"},
	"minReadySeconds":               {change: "spec.minReadySeconds = 10"},
	"minReadySeconds negative":      {change: "spec.minReadySeconds = -1", refused: "spec.minReadySeconds"},
	"revisionHistoryLimit 0":        {change: "spec.revisionHistoryLimit = 0"},
	"revisionHistoryLimit negative": {change: "spec.revisionHistoryLimit = -1", refused: "spec.revisionHistoryLimit"},
	"ordinals empty":                {change: "spec.ordinals = {}"},
	"ordinals start":                {change: "spec.ordinals = {start: 7}"},
	"ordinals start negative":       {change: "spec.ordinals = {start: -1}", refused: "spec.ordinals.start"},

	// Policies.
	"Parallel":                    {change: "spec.podManagementPolicy = Parallel"},
	"podManagementPolicy blank":   {change: `spec.podManagementPolicy = ""`},
	"podManagementPolicy unknown": {change: "spec.podManagementPolicy = Random", refused: "spec.podManagementPolicy"},
	"retention empty":             {change: "spec.persistentVolumeClaimRetentionPolicy = {}"},
	"retention half said":         {change: "spec.persistentVolumeClaimRetentionPolicy = {whenScaled: Delete}"},
	"retention blank":             {change: `spec.persistentVolumeClaimRetentionPolicy = {whenScaled: "", whenDeleted: Delete}`},
	"retention unknown":           {change: "spec.persistentVolumeClaimRetentionPolicy = {whenDeleted: Recycle}", refused: "spec.persistentVolumeClaimRetentionPolicy.whenDeleted"},

	// Update strategy.
	"OnDelete":                      {change: "spec.updateStrategy = {type: OnDelete}"},
	"OnDelete with rollingUpdate":   {change: "spec.updateStrategy = {type: OnDelete, rollingUpdate: {partition: 1}}", refused: "spec.updateStrategy.rollingUpdate"},
	"RollingUpdate bare":            {change: "spec.updateStrategy = {type: RollingUpdate}"},
	"RollingUpdate empty":           {change: "spec.updateStrategy = {type: RollingUpdate, rollingUpdate: {}}"},
	"rollingUpdate without type":    {change: "spec.updateStrategy = {rollingUpdate: {partition: 2}}"},
	"strategy empty":                {change: "spec.updateStrategy = {}"},
	"strategy type blank":           {change: `spec.updateStrategy = {type: ""}`},
	"strategy type unknown":         {change: "spec.updateStrategy = {type: Sideways}", refused: "spec.updateStrategy.type", theirs: "spec.updateStrategy"},
	"partition above replicas":      {change: "spec.updateStrategy = {rollingUpdate: {partition: 99}}"},
	"partition negative":            {change: "spec.updateStrategy = {rollingUpdate: {partition: -1}}", refused: "spec.updateStrategy.rollingUpdate.partition"},
	"maxUnavailable number":         {change: "spec.updateStrategy = {rollingUpdate: {maxUnavailable: 2}}"},
	"maxUnavailable above replicas": {change: "spec.updateStrategy = {rollingUpdate: {maxUnavailable: 99}}"},
	"maxUnavailable percent":        {change: "spec.updateStrategy = {rollingUpdate: {maxUnavailable: 34%}}"},
	"maxUnavailable leading zeros":  {change: "spec.updateStrategy = {rollingUpdate: {maxUnavailable: 010%}}"},
	"maxUnavailable all":            {change: "spec.updateStrategy = {rollingUpdate: {maxUnavailable: 100%}}"},
	"maxUnavailable 0":              {change: "spec.updateStrategy = {rollingUpdate: {maxUnavailable: 0}}", refused: "spec.updateStrategy.rollingUpdate.maxUnavailable"},
	"maxUnavailable 0%":             {change: "spec.updateStrategy = {rollingUpdate: {maxUnavailable: 0%}}", refused: "spec.updateStrategy.rollingUpdate.maxUnavailable"},
	"maxUnavailable 101%":           {change: "spec.updateStrategy = {rollingUpdate: {maxUnavailable: 101%}}", refused: "spec.updateStrategy.rollingUpdate.maxUnavailable"},
	"maxUnavailable negative":       {change: "spec.updateStrategy = {rollingUpdate: {maxUnavailable: -1}}", refused: "spec.updateStrategy.rollingUpdate.maxUnavailable"},
	"maxUnavailable number as text": {change: `spec.updateStrategy = {rollingUpdate: {maxUnavailable: "2"}}`, refused: "spec.updateStrategy.rollingUpdate.maxUnavailable"},

	// Names.
	"name with a dot":         {change: "metadata.name = web.example", refused: "metadata.name"},
	"name of 52":              {change: "metadata.name = a123456789-123456789-123456789-123456789-123456789-1"},
	"name of 53":              {change: "metadata.name = a123456789-123456789-123456789-123456789-123456789-12", refused: "metadata.name"},
	"name of 64":              {change: "metadata.name = a123456789-123456789-123456789-123456789-123456789-1234567890123", refused: "metadata.name"},
	"generateName with a dot": {change: "delete metadata.name\nmetadata.generateName = web.", refused: "metadata.generateName"},
	"serviceName empty":       {change: `spec.serviceName = ""`},
	"serviceName with a dot":  {change: "spec.serviceName = web.example", refused: "spec.serviceName"},
	"serviceName in capitals": {change: "spec.serviceName = Web", refused: "spec.serviceName"},
	"serviceName of 64":       {change: "spec.serviceName = a123456789-123456789-123456789-123456789-123456789-1234567890123", refused: "spec.serviceName"},

	// Selector.
	"selector absent":               {change: "delete spec.selector", refused: "spec.selector"},
	"selector empty":                {change: "spec.selector = {}", refused: "spec.selector"},
	"selector of another set":       {change: "spec.selector = {matchLabels: {app: other}}", refused: "spec.template.metadata.labels"},
	"selector, template unlabelled": {change: "delete spec.template.metadata", refused: "spec.template.metadata.labels"},
	"selector by expressions":       {change: "spec.selector = {matchExpressions: [{key: app, operator: In, values: [web, site]}, {key: tier, operator: Exists}, {key: old, operator: DoesNotExist}, {key: zone, operator: NotIn, values: [a]}]}"},
	"selector In without match":     {change: "spec.selector = {matchExpressions: [{key: app, operator: In, values: [site]}]}", refused: "spec.template.metadata.labels"},
	"selector NotIn with match":     {change: "spec.selector = {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}", refused: "spec.template.metadata.labels"},
	"selector DoesNotExist":         {change: "spec.selector = {matchExpressions: [{key: app, operator: DoesNotExist}]}", refused: "spec.template.metadata.labels"},
	"selector In without values":    {change: "spec.selector = {matchExpressions: [{key: app, operator: In}]}", refused: "spec.selector.matchExpressions", theirs: "spec.selector.matchExpressions[0].values"},
	"selector Exists with values":   {change: "spec.selector = {matchExpressions: [{key: app, operator: Exists, values: [web]}]}", refused: "spec.selector.matchExpressions", theirs: "spec.selector.matchExpressions[0].values"},
	"selector operator unknown":     {change: "spec.selector = {matchExpressions: [{key: app, operator: Like, values: [web]}]}", refused: "spec.selector.matchExpressions", theirs: "spec.selector.matchExpressions[0].operator"},
	"selector of 100 expressions":   {change: "spec.selector.matchExpressions = [" + strings.Repeat("{key: x, operator: DoesNotExist}, ", 100) + "]"},
	"selector of 101 expressions":   {change: "spec.selector.matchExpressions = [" + strings.Repeat("{key: x, operator: DoesNotExist}, ", 101) + "]", refused: "spec.selector.matchExpressions"},
	"selector of 1000 values":       {change: "spec.selector.matchExpressions = [{key: x, operator: NotIn, values: [" + strings.Repeat("a, ", 1000) + "]}]"},
	"selector of 1001 values":       {change: "spec.selector.matchExpressions = [{key: x, operator: NotIn, values: [" + strings.Repeat("a, ", 1001) + "]}]", refused: "spec.selector.matchExpressions[0].values"},
	"selector of 1000 labels":       {change: numbered("spec.selector.matchLabels", 1000) + numbered("spec.template.metadata.labels", 1000)},
	"selector of 1001 labels":       {change: numbered("spec.selector.matchLabels", 1001) + numbered("spec.template.metadata.labels", 1001), refused: "spec.selector.matchLabels"},
	"selector key ill formed":       {change: "spec.selector.matchExpressions = [{key: -app, operator: DoesNotExist}]", refused: "spec.selector.matchExpressions[0].key"},
	"selector value ill formed":     {change: "spec.selector.matchExpressions = [{key: zone, operator: NotIn, values: [not fine]}]", refused: "spec.selector.matchExpressions[0].values[0]"},
}

// numbered sets a map to as many labels.
func numbered(path string, count int) string {
	var labels []string
	for i := range count {
		labels = append(labels, fmt.Sprintf("l%d: v", i))
	}
	return path + " = {" + strings.Join(labels, ", ") + "}\n"
}

func TestCreate(t *testing.T) {
	o := newOracle(t)
	for _, table := range []map[string]verdict{creates, templates, claims, extensions} {
		for name, want := range table {
			t.Run(name, func(t *testing.T) {
				m := parse(t, base).change(t, want.change)
				ours, theirs := o.create(t.Context(), oursVersion, m), o.create(t.Context(), theirsVersion, m)
				o.judge(t, want, m, ours, theirs)
			})
		}
	}
}

// judge holds two answers against the verdict and against each other.
func (o *oracle) judge(t *testing.T, want verdict, m manifest, ours, theirs answer) {
	t.Helper()
	if err := checkFields(ours, want.refused); err != nil {
		t.Errorf("ours: %v", err)
	}
	difference, differs := known(m)
	switch {
	case extended(m):
		if theirs.accepted() && ours.accepted() {
			t.Error("apps/v1 accepts an extension; is it one?")
		}
	case differs && difference.stricter:
		if !theirs.accepted() {
			t.Logf("apps/v1 refuses it as well (%v); the difference %q may be gone", theirs.err, difference.name)
		}
	default:
		if err := checkTheirs(theirs, want); err != nil {
			t.Errorf("apps/v1: %v", err)
		}
	}
	if ours.accepted() && theirs.accepted() && !differs {
		o.mustAgree(t, ours, theirs)
	}
}

func (o *oracle) mustAgree(t *testing.T, ours, theirs answer) {
	t.Helper()
	diff, err := o.compareStored(t.Context(), ours.object, theirs.object)
	if err != nil {
		t.Fatal(err)
	}
	if diff != "" {
		t.Error(diff)
	}
}

// checkTheirs compares the answer of apps/v1. It refuses what it can't decode without naming a field.
func checkTheirs(theirs answer, want verdict) error {
	field := want.refused
	if want.theirs != "" {
		field = want.theirs
	}
	if field != "" && !theirs.accepted() && len(theirs.fields()) == 0 {
		return nil
	}
	return checkFields(theirs, field)
}

func checkFields(got answer, refused string) error {
	switch {
	case refused == "" && !got.accepted():
		return fmt.Errorf("want it accepted, got it %s", got)
	case refused != "" && got.accepted():
		return fmt.Errorf("want it refused for %s, got it accepted", refused)
	case refused == decodes && apierrors.IsBadRequest(got.err):
		return nil
	case refused != "" && !slices.Contains(got.fields(), refused):
		return fmt.Errorf("want it refused for %s, got %v: %s", refused, got.fields(), got)
	}
	return nil
}

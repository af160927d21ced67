package api

import "testing"

// edit is an update: the stored set differs from the base by one change, the new one from the stored one by another.
type edit struct {
	stored string
	verdict
}

var updates = map[string]edit{
	// What may change.
	"nothing":                     {},
	"labels of the set":           {verdict: verdict{change: "metadata.labels = {team: a}"}},
	"replicas":                    {verdict: verdict{change: "spec.replicas = 5"}},
	"image":                       {verdict: verdict{change: "spec.template.spec.containers[0].image = registry.example/nginx:1.30"}},
	"ordinals":                    {verdict: verdict{change: "spec.ordinals = {start: 3}"}},
	"minReadySeconds":             {verdict: verdict{change: "spec.minReadySeconds = 30"}},
	"revisionHistoryLimit":        {verdict: verdict{change: "spec.revisionHistoryLimit = 2"}},
	"retention policy":            {verdict: verdict{change: "spec.persistentVolumeClaimRetentionPolicy = {whenScaled: Delete}"}},
	"strategy":                    {verdict: verdict{change: "spec.updateStrategy = {type: OnDelete}"}},
	"strategy and back":           {stored: "spec.updateStrategy = {type: OnDelete}", verdict: verdict{change: "delete spec.updateStrategy"}},
	"partition":                   {verdict: verdict{change: "spec.updateStrategy = {rollingUpdate: {partition: 2}}"}},
	"labels that do not select":   {verdict: verdict{change: "spec.template.metadata.labels.tier = back"}},
	"default written out":         {stored: "delete spec.serviceName\ndelete spec.replicas", verdict: verdict{change: "spec.replicas = 1\nspec.podManagementPolicy = OrderedReady"}},
	"default left out":            {stored: "spec.podManagementPolicy = OrderedReady", verdict: verdict{change: "delete spec.podManagementPolicy"}},
	"claims as dumped":            {verdict: verdict{change: "spec.volumeClaimTemplates[0].apiVersion = v1\nspec.volumeClaimTemplates[0].kind = PersistentVolumeClaim\nspec.volumeClaimTemplates[0].spec.volumeMode = Filesystem\nspec.volumeClaimTemplates[0].status = {phase: Pending}"}},
	"claim quantity, other words": {verdict: verdict{change: "spec.volumeClaimTemplates[0].spec.resources.requests.storage = 1024Mi"}},
	"selector, other words":       {verdict: verdict{change: "spec.selector.matchExpressions = []"}},
	"no claims, other words":      {stored: "delete spec.volumeClaimTemplates\ndelete spec.template.spec.containers[0].volumeMounts", verdict: verdict{change: "spec.volumeClaimTemplates = []"}},

	// What may not.
	"selector":                   {stored: "spec.template.metadata.labels.new = a", verdict: verdict{change: "spec.selector = {matchLabels: {new: a}}", refused: "spec.selector"}},
	"selector and labels":        {verdict: verdict{change: "spec.selector = {matchLabels: {app: web2}}\nspec.template.metadata.labels = {app: web2}", refused: "spec.selector"}},
	"serviceName":                {verdict: verdict{change: "spec.serviceName = other", refused: "spec.serviceName"}},
	"serviceName removed":        {verdict: verdict{change: "delete spec.serviceName", refused: "spec.serviceName"}},
	"serviceName added":          {stored: "delete spec.serviceName", verdict: verdict{change: "spec.serviceName = web", refused: "spec.serviceName"}},
	"podManagementPolicy":        {verdict: verdict{change: "spec.podManagementPolicy = Parallel", refused: "spec.podManagementPolicy"}},
	"claim size":                 {verdict: verdict{change: "spec.volumeClaimTemplates[0].spec.resources.requests.storage = 2Gi", refused: "spec.volumeClaimTemplates"}},
	"claim added":                {verdict: verdict{change: "spec.volumeClaimTemplates[1] = {metadata: {name: log}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", refused: "spec.volumeClaimTemplates"}},
	"claims removed":             {verdict: verdict{change: "delete spec.volumeClaimTemplates\ndelete spec.template.spec.containers[0].volumeMounts", refused: "spec.volumeClaimTemplates"}},
	"first claim added":          {stored: "delete spec.volumeClaimTemplates\ndelete spec.template.spec.containers[0].volumeMounts", verdict: verdict{change: "spec.volumeClaimTemplates = [{metadata: {name: log}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]", refused: "spec.volumeClaimTemplates"}},
	"label that selects":         {verdict: verdict{change: "spec.template.metadata.labels = {tier: front}", refused: "spec.template.metadata.labels"}},
	"template made invalid":      {verdict: verdict{change: "delete spec.template.spec.containers[0].image", refused: "spec.template.spec.containers[0].image"}},
	"replicas negative":          {verdict: verdict{change: "spec.replicas = -1", refused: "spec.replicas"}},
	"mount without its claim":    {verdict: verdict{change: "spec.template.spec.containers[0].volumeMounts[1] = {name: log, mountPath: /log}", refused: "spec.template.spec.containers[0].volumeMounts[1].name"}},
	"OnDelete and rollingUpdate": {verdict: verdict{change: "spec.updateStrategy = {type: OnDelete, rollingUpdate: {}}", refused: "spec.updateStrategy.rollingUpdate"}},

	// Extensions.
	"paused":                     {verdict: verdict{change: "spec.paused = true"}},
	"to Recreate":                {verdict: verdict{change: "spec.updateStrategy = {type: Recreate}"}},
	"to Enforced":                {verdict: verdict{change: "spec.updateStrategy = {type: EnforcedRollingUpdate}"}},
	"minReadySeconds to timeout": {verdict: verdict{change: "spec.minReadySeconds = 60\nspec.updateStrategy = {rollingUpdate: {podProgressTimeoutSeconds: 30}}", refused: "spec.updateStrategy.rollingUpdate.podProgressTimeoutSeconds"}},
}

func TestUpdate(t *testing.T) {
	o := newOracle(t)
	for name, test := range updates {
		t.Run(name, func(t *testing.T) {
			stored := parse(t, base).change(t, test.stored)
			m := stored.change(t, test.change)
			ours, theirs := o.update(t, oursVersion, stored, m), o.update(t, theirsVersion, stored, m)
			o.judge(t, test.verdict, m, ours, theirs)
		})
	}
}

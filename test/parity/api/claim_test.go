package api

// claims are manifests whose claim templates differ.
var claims = map[string]verdict{
	"storage class":                             {change: "spec.volumeClaimTemplates[0].spec.storageClassName = fast"},
	"storage class ill formed":                  {change: "spec.volumeClaimTemplates[0].spec.storageClassName = Fast_Disk", refused: "spec.volumeClaimTemplates[0].spec.storageClassName"},
	"block device":                              {change: "spec.volumeClaimTemplates[0].spec.volumeMode = Block\ndelete spec.template.spec.containers[0].volumeMounts\nspec.template.spec.containers[0].volumeDevices = [{name: www, devicePath: /dev/www}]"},
	"volume mode unknown":                       {change: "spec.volumeClaimTemplates[0].spec.volumeMode = Tape", refused: "spec.volumeClaimTemplates[0].spec.volumeMode"},
	"two claims":                                {change: "spec.volumeClaimTemplates[1] = {metadata: {name: log, labels: {kind: log}}, spec: {accessModes: [ReadWriteOncePod], resources: {requests: {storage: 10Gi}}}}"},
	"two claims of one name":                    {change: "spec.volumeClaimTemplates[1] = {metadata: {name: www}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}"},
	"two claims of one name, the first broken":  {change: "spec.volumeClaimTemplates[1] = {metadata: {name: www}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}\nspec.volumeClaimTemplates[0].spec.volumeMode = Tape", refused: "spec.volumeClaimTemplates[0].spec.volumeMode"},
	"two claims of one name, the second broken": {change: "spec.volumeClaimTemplates[1] = {metadata: {name: www}, spec: {accessModes: [ReadWriteOnce], volumeMode: Tape, resources: {requests: {storage: 2Gi}}}}", refused: "spec.volumeClaimTemplates[1].spec.volumeMode"},
	"no access mode":                            {change: "delete spec.volumeClaimTemplates[0].spec.accessModes", refused: "spec.volumeClaimTemplates[0].spec.accessModes"},
	"access mode unknown":                       {change: "spec.volumeClaimTemplates[0].spec.accessModes = [Sometimes]", refused: "spec.volumeClaimTemplates[0].spec.accessModes"},
	"no storage request":                        {change: "delete spec.volumeClaimTemplates[0].spec.resources", refused: "spec.volumeClaimTemplates[0].spec.resources", theirs: "spec.volumeClaimTemplates[0].spec.resources[storage]"},
	"storage request of 0":                      {change: "spec.volumeClaimTemplates[0].spec.resources.requests.storage = 0", refused: "spec.volumeClaimTemplates[0].spec.resources[storage]"},
	"storage request ill formed":                {change: "spec.volumeClaimTemplates[0].spec.resources.requests.storage = plenty", refused: "spec.volumeClaimTemplates[0].spec.resources.requests.storage"},
	"storage request a fraction":                {change: "spec.volumeClaimTemplates[0].spec.resources.requests.storage = 1.5"},
	"storage request misnamed":                  {change: "spec.volumeClaimTemplates[0].spec.resources.requests = {disk: 1Gi}", refused: "spec.volumeClaimTemplates[0].spec.resources[storage]"},
	"claim without a spec":                      {change: "delete spec.volumeClaimTemplates[0].spec", refused: "spec.volumeClaimTemplates[0].spec", theirs: "spec.volumeClaimTemplates[0].spec.accessModes"},
	"name of a claim ill formed":                {change: "spec.volumeClaimTemplates[0].metadata.name = My_Data\nspec.template.spec.containers[0].volumeMounts[0].name = My_Data", refused: "spec.volumeClaimTemplates[0].metadata.name", theirs: "spec.template.spec.volumes[0].name"},
	"data source":                               {change: "spec.volumeClaimTemplates[0].spec.dataSource = {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: before}"},
	"data source without a name":                {change: "spec.volumeClaimTemplates[0].spec.dataSource = {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot}", refused: "spec.volumeClaimTemplates[0].spec.dataSource.name"},
	"selector of a claim":                       {change: "spec.volumeClaimTemplates[0].spec.selector = {matchLabels: {disk: fast}}"},
	"selector of a claim, broken":               {change: "spec.volumeClaimTemplates[0].spec.selector = {matchExpressions: [{key: disk, operator: In}]}", refused: "spec.volumeClaimTemplates[0].spec.selector.matchExpressions[0].values"},
}

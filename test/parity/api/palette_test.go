package api

import "strings"

// misfits are values that belong nowhere in particular.
var misfits = []string{
	"null", "-1", "0", "2", "2147483648", "0.5", "true", `""`, `" "`, "a", "Web", "web.example", "101%", "1Gi",
	"[]", "{}", "[a]", "[{}]", "{a: b}", "2026-01-01T00:00:00Z",
}

// place is a field with values that fit it.
type place struct {
	path    string
	fitting []string
}

// palette has one line for each place that the fuzzer changes: its path and what fits there.
var palette = readPalette(`
metadata.name: web | a1 | my-set
metadata.labels: {team: a}
metadata.annotations: {note: b}
metadata.generateName: web-
spec.replicas: 0 | 1 | 7
spec.minReadySeconds: 0 | 30
spec.revisionHistoryLimit: 0 | 3
spec.serviceName: "" | db
spec.podManagementPolicy: Parallel | OrderedReady | ""
spec.ordinals: {} | {start: 2}
spec.ordinals.start: 0 | 5
spec.updateStrategy: {type: OnDelete} | {type: RollingUpdate} | {rollingUpdate: {}}
spec.updateStrategy.type: OnDelete | RollingUpdate
spec.updateStrategy.rollingUpdate: {} | {partition: 1}
spec.updateStrategy.rollingUpdate.partition: 0 | 2 | 99
spec.updateStrategy.rollingUpdate.maxUnavailable: 1 | 3 | 50% | 100%
spec.persistentVolumeClaimRetentionPolicy: {} | {whenScaled: Delete}
spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Delete | Retain | ""
spec.persistentVolumeClaimRetentionPolicy.whenScaled: Delete | Retain
spec.selector: {matchLabels: {tier: front}} | {matchExpressions: [{key: app, operator: Exists}]}
spec.selector.matchLabels: {app: web} | {app: web, tier: front}
spec.selector.matchLabels.app: web
spec.selector.matchExpressions: [{key: app, operator: In, values: [web, b]}] | [{key: x, operator: DoesNotExist}] | [{key: x, operator: NotIn, values: [y]}]
spec.selector.matchExpressions[0].key: app | tier
spec.selector.matchExpressions[0].operator: Exists | In
spec.selector.matchExpressions[0].values: [web] | [front]
spec.template.metadata: {labels: {app: web}}
spec.template.metadata.labels: {app: web} | {app: web, tier: front, x: z}
spec.template.metadata.labels.app: web
spec.template.metadata.annotations: {a: b}
spec.template.metadata.name: web
spec.template.metadata.generateName: web-
spec.template.metadata.namespace: other
spec.template.metadata.finalizers: [example.com/hold]
spec.template.metadata.creationTimestamp: null | "2026-01-01T00:00:00Z"
spec.template.metadata.generation: 3
spec.template.spec.restartPolicy: Always | ""
spec.template.spec.activeDeadlineSeconds: null
spec.template.spec.terminationGracePeriodSeconds: 0 | 5
spec.template.spec.dnsPolicy: Default | ClusterFirst
spec.template.spec.serviceAccountName: db
spec.template.spec.automountServiceAccountToken: false
spec.template.spec.hostname: Any_Thing
spec.template.spec.subdomain: Any_Thing
spec.template.spec.hostNetwork: true
spec.template.spec.shareProcessNamespace: true
spec.template.spec.nodeSelector: {disk: ssd}
spec.template.spec.priority: 5
spec.template.spec.priorityClassName: high
spec.template.spec.overhead: {cpu: 0.1}
spec.template.spec.enableServiceLinks: false
spec.template.spec.securityContext: {runAsUser: 1000}
spec.template.spec.securityContext.fsGroup: 0 | 1000
spec.template.spec.securityContext.supplementalGroups: [1, 2]
spec.template.spec.securityContext.sysctls: [{name: net.core.somaxconn, value: "1024"}] | [{name: net.core.somaxconn}]
spec.template.spec.tolerations: [{operator: Exists}]
spec.template.spec.tolerations[0].operator: Exists
spec.template.spec.tolerations[0].tolerationSeconds: 5
spec.template.spec.affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone}}]}}
spec.template.spec.affinity.nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}
spec.template.spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
spec.template.spec.topologySpreadConstraints[0].maxSkew: 2
spec.template.spec.imagePullSecrets: [{name: a}, {name: b}] | [{}]
spec.template.spec.imagePullSecrets[0].name: a
spec.template.spec.hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]
spec.template.spec.initContainers: [{name: init, image: a}]
spec.template.spec.initContainers[0].restartPolicy: Always
spec.template.spec.ephemeralContainers: []
spec.template.spec.volumes: [{name: tmp, emptyDir: {}}] | [{name: tmp}] | [{name: www, emptyDir: {}}]
spec.template.spec.volumes[0].name: tmp
spec.template.spec.volumes[0].emptyDir: {} | {medium: Memory, sizeLimit: 64Mi}
spec.template.spec.volumes[0].emptyDir.sizeLimit: 1Gi | 0.5
spec.template.spec.volumes[0].secret: {secretName: s, defaultMode: 256}
spec.template.spec.volumes[0].projected: {sources: [{configMap: {name: a}}]} | {}
spec.template.spec.containers: [{name: nginx, image: a}] | [{name: nginx, image: a}, {name: b, image: b}]
spec.template.spec.containers[0].name: nginx | main
spec.template.spec.containers[0].image: a | a/b:c
spec.template.spec.containers[0].imagePullPolicy: Always | IfNotPresent
spec.template.spec.containers[0].command: [run] | []
spec.template.spec.containers[0].workingDir: /tmp
spec.template.spec.containers[0].tty: true
spec.template.spec.containers[0].terminationMessagePolicy: File
spec.template.spec.containers[1]: {name: b, image: b} | {name: nginx, image: b}
spec.template.spec.containers[0].env: [{name: A, value: b}, {name: A, value: c}] | []
spec.template.spec.containers[0].env[0].name: A
spec.template.spec.containers[0].env[0].value: a | ""
spec.template.spec.containers[0].env[0].valueFrom: {fieldRef: {fieldPath: metadata.name}} | {resourceFieldRef: {resource: limits.cpu, divisor: 0.1}}
spec.template.spec.containers[0].envFrom: [{configMapRef: {name: a}}]
spec.template.spec.containers[0].ports: [{containerPort: 1}] | [{containerPort: 1}, {containerPort: 1}]
spec.template.spec.containers[0].ports[0].containerPort: 1 | 8080
spec.template.spec.containers[0].ports[0].protocol: TCP | UDP
spec.template.spec.containers[0].ports[0].hostPort: 80
spec.template.spec.containers[0].ports[1]: {containerPort: 80} | {containerPort: 81, name: x}
spec.template.spec.containers[0].resources: {} | {limits: {cpu: 1}} | {requests: {memory: 1Gi}}
spec.template.spec.containers[0].resources.requests: {cpu: 0.25} | {memory: 128974848}
spec.template.spec.containers[0].resources.requests.cpu: 1 | 0.5 | 100m | 1e-3
spec.template.spec.containers[0].resources.limits.memory: 1Gi | 1e9
spec.template.spec.containers[0].readinessProbe: {tcpSocket: {port: 80}} | {httpGet: {port: http}} | {grpc: {port: 80}}
spec.template.spec.containers[0].readinessProbe.httpGet: {port: 80, httpHeaders: [{name: A}]}
spec.template.spec.containers[0].readinessProbe.periodSeconds: 1
spec.template.spec.containers[0].livenessProbe: {exec: {command: [a]}, initialDelaySeconds: 5}
spec.template.spec.containers[0].lifecycle: {preStop: {sleep: {seconds: 1}}} | {preStop: {sleep: {}}} | {postStart: {exec: {command: [a]}}}
spec.template.spec.containers[0].securityContext: {runAsUser: 0, privileged: true}
spec.template.spec.containers[0].securityContext.capabilities: {add: [SYS_TIME], drop: [ALL]}
spec.template.spec.containers[0].volumeMounts: [] | [{name: www, mountPath: /a}, {name: www, mountPath: /b}]
spec.template.spec.containers[0].volumeMounts[0].name: www
spec.template.spec.containers[0].volumeMounts[0].readOnly: true
spec.template.spec.containers[0].volumeMounts[1]: {name: www, mountPath: /c} | {name: tmp, mountPath: /tmp}
spec.template.spec.containers[0].volumeDevices: []
spec.volumeClaimTemplates: [] | [{metadata: {name: www}, spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 5}}}}]
spec.volumeClaimTemplates[0].kind: PersistentVolumeClaim
spec.volumeClaimTemplates[0].metadata.name: www
spec.volumeClaimTemplates[0].metadata.labels: {a: b}
spec.volumeClaimTemplates[0].metadata.creationTimestamp: null
spec.volumeClaimTemplates[0].spec.accessModes: [ReadOnlyMany] | [ReadWriteOnce, ReadOnlyMany]
spec.volumeClaimTemplates[0].spec.resources.requests: {storage: 1Gi} | {storage: 1Gi, other: 5}
spec.volumeClaimTemplates[0].spec.resources.requests.storage: 1 | 2Gi | 1.5 | 1024Mi
spec.volumeClaimTemplates[0].spec.resources.limits: {storage: 4Gi}
spec.volumeClaimTemplates[0].spec.storageClassName: fast | ""
spec.volumeClaimTemplates[0].spec.volumeMode: Filesystem
spec.volumeClaimTemplates[0].spec.selector: {matchLabels: {a: b}}
spec.volumeClaimTemplates[0].spec.volumeName: pv
spec.volumeClaimTemplates[0].spec.dataSource: {kind: PersistentVolumeClaim, name: old}
spec.volumeClaimTemplates[0].status: {phase: Pending} | {}
spec.volumeClaimTemplates[1]: {metadata: {name: log}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
spec.volumeClaimTemplates[1].metadata.name: www | log
spec.volumeClaimTemplates[1].spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 3Gi}}}
`)

func readPalette(text string) []place {
	var places []place
	for line := range strings.Lines(strings.TrimSpace(text)) {
		path, values, _ := strings.Cut(strings.TrimSpace(line), ": ")
		places = append(places, place{path, strings.Split(values, " | ")})
	}
	return places
}

// changeFor turns two bytes into a line of change: the first picks the place, the second a value. Six times in eight the
// value fits, once it does not, once the field is removed.
func changeFor(where, what byte) string {
	p := palette[int(where)%len(palette)]
	switch kind, index := what%8, int(what/8); kind {
	case 7:
		return "delete " + p.path
	case 6:
		return p.path + " = " + misfits[index%len(misfits)]
	default:
		return p.path + " = " + p.fitting[(index+int(kind))%len(p.fitting)]
	}
}

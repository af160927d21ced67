{{/* Labels of every object. */}}
{{- define "rollcall.labels" -}}
app.kubernetes.io/name: rollcall
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{/* The image, by digest where there is one. */}}
{{- define "rollcall.image" -}}
{{- $image := printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- with .Values.image.digest }}{{ $image = printf "%s@%s" $image . }}{{ end -}}
{{ $image }}
{{- end }}

{{/*
The objects of a file in manifests/ (a copy of config/, which is their source), in the namespace of the release, with
its labels. With watchNamespaces, the roles in "narrowed" are roles in each of these namespaces, not in the cluster.
*/}}
{{- define "rollcall.objects" -}}
{{- $root := .root }}
{{- $narrowed := .narrowed | default list }}
{{- $file := printf "manifests/%s" .file }}
{{- range splitList "\n---\n" ($root.Files.Get $file | replace "rollcall-system" $root.Release.Namespace) }}
{{- $object := fromYaml . }}
{{- $_ := set $object.metadata "labels" (merge (include "rollcall.labels" $root | fromYaml) ($object.metadata.labels | default dict)) }}
{{- if eq $object.kind "ServiceAccount" }}
{{- with (index $root.Values (trimPrefix "rollcall-" $object.metadata.name)).serviceAccountAnnotations }}
{{- $_ := set $object.metadata "annotations" . }}
{{- end }}
{{- end }}
{{- if and $root.Values.watchNamespaces (has $object.metadata.name $narrowed) (hasPrefix "ClusterRole" $object.kind) }}
{{- range $root.Values.watchNamespaces }}
---
{{ include "rollcall.narrow" (dict "object" $object "namespace" .) }}
{{- end }}
{{- else }}
---
{{ toYaml $object }}
{{- end }}
{{- end }}
{{- end }}

{{/* A role or binding of the cluster, in one namespace. */}}
{{- define "rollcall.narrow" -}}
{{- $object := deepCopy .object }}
{{- $_ := set $object "kind" (trimPrefix "Cluster" $object.kind) }}
{{- $_ := set $object.metadata "namespace" .namespace }}
{{- if hasKey $object "roleRef" }}{{ $_ := set $object.roleRef "kind" "Role" }}{{ end }}
{{- toYaml $object }}
{{- end }}

{{/* What both processes are told. */}}
{{- define "rollcall.args" -}}
- --metrics-secure={{ .Values.metrics.secure }}
- --zap-log-level={{ .Values.logLevel }}
{{- $gates := list }}
{{- range $gate, $on := .Values.featureGates }}{{ $gates = append $gates (printf "%s=%t" $gate $on) }}{{ end }}
{{- with $gates }}
- --feature-gates={{ join "," . }}
{{- end }}
{{- end }}

{{/* The pod of a component, but for its container's arguments, ports and volumes. */}}
{{- define "rollcall.pod" -}}
serviceAccountName: rollcall-{{ .component }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
affinity: {{ toYaml (.values.affinity | default (include "rollcall.spread" . | fromYaml)) | nindent 2 }}
{{- with .values.topologySpreadConstraints }}
topologySpreadConstraints: {{ toYaml . | nindent 2 }}
{{- end }}
# What PodSecurity "restricted" asks for, and a read-only root besides. None of it is a value.
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{/* Replicas on different nodes, where there are some. */}}
{{- define "rollcall.spread" -}}
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
  - weight: 100
    podAffinityTerm:
      topologyKey: kubernetes.io/hostname
      labelSelector:
        matchLabels: {{ include "rollcall.selector" . | nindent 10 }}
{{- end }}

{{/* The labels by which a component's pods are selected. */}}
{{- define "rollcall.selector" -}}
app.kubernetes.io/name: rollcall
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Image, security, probes and resources of a component's container. */}}
{{- define "rollcall.container" -}}
image: {{ include "rollcall.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
livenessProbe:
  httpGet: {path: /healthz, port: probes}
  initialDelaySeconds: 15
  periodSeconds: 20
readinessProbe:
  httpGet: {path: /readyz, port: probes}
  periodSeconds: 5
resources: {{ toYaml .values.resources | nindent 2 }}
{{- end }}

{{/* Names do not depend on the release: the kinds are cluster-wide, so a cluster holds one Windlass. */}}
{{- define "windlass.controllers" -}}windlass-controllers{{- end -}}
{{- define "windlass.api" -}}windlass-api{{- end -}}
{{- define "windlass.gateway" -}}windlass-gateway{{- end -}}
{{- define "windlass.relay" -}}windlass-relay{{- end -}}
{{- define "windlass.nats" -}}windlass-nats{{- end -}}
{{- define "windlass.tenantController" -}}windlass-tenant-controller{{- end -}}
{{- define "windlass.tenantApi" -}}windlass-tenant-api{{- end -}}
{{- define "windlass.tenantGateway" -}}windlass-tenant-gateway{{- end -}}
{{- define "windlass.tenantRelay" -}}windlass-tenant-relay{{- end -}}
{{- define "windlass.viewer" -}}windlass-viewer{{- end -}}
{{- define "windlass.operator" -}}windlass-operator{{- end -}}
{{- define "windlass.edgeOperator" -}}windlass-edge-operator{{- end -}}

{{/* Labels of every object of the release. */}}
{{- define "windlass.labels" -}}
app.kubernetes.io/name: windlass
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: windlass
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Labels that select the pods of a component. They never change. */}}
{{- define "windlass.selector" -}}
app.kubernetes.io/name: windlass
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}
{{- define "windlass.controllers.selector" -}}
{{ include "windlass.selector" . }}
app.kubernetes.io/component: controllers
{{- end -}}
{{- define "windlass.api.selector" -}}
{{ include "windlass.selector" . }}
app.kubernetes.io/component: api
{{- end -}}
{{- define "windlass.gateway.selector" -}}
{{ include "windlass.selector" . }}
app.kubernetes.io/component: gateway
{{- end -}}
{{- define "windlass.relay.selector" -}}
{{ include "windlass.selector" . }}
app.kubernetes.io/component: relay
{{- end -}}
{{- define "windlass.nats.selector" -}}
{{ include "windlass.selector" . }}
app.kubernetes.io/component: nats
{{- end -}}

{{- define "windlass.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "windlass.runnerImage" -}}
{{ .Values.runner.image.repository }}:{{ .Values.runner.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* Pod Security `restricted`, as labels of a namespace. */}}
{{- define "windlass.podSecurity" -}}
{{- range $mode := list "enforce" "audit" "warn" }}
pod-security.kubernetes.io/{{ $mode }}: restricted
pod-security.kubernetes.io/{{ $mode }}-version: latest
{{- end }}
{{- end -}}

{{/* Security of the pods of the release: what Pod Security `restricted` asks for, and a read-only root. */}}
{{- define "windlass.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}
{{- define "windlass.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Subjects of a role binding from values' {kind, name, namespace}. */}}
{{- define "windlass.subjects" -}}
{{- range . }}
- kind: {{ .kind }}
  name: {{ .name | quote }}
  {{- if eq .kind "ServiceAccount" }}
  namespace: {{ .namespace | quote }}
  {{- else }}
  apiGroup: rbac.authorization.k8s.io
  {{- end }}
{{- end }}
{{- end -}}

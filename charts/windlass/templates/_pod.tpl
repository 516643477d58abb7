{{/*
Where the pods of a component may and should run. usage:
include "windlass.scheduling" (dict "root" $ "values" .Values.api "selector" "windlass.api.selector")
*/}}
{{- define "windlass.scheduling" -}}
{{- $hash := ternary "controller-revision-hash" "pod-template-hash" (eq .selector "windlass.nats.selector") -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
# One node's loss must not take all replicas, where there is more than one node.
topologySpreadConstraints:
  {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include $.selector $.root | nindent 8 }}
    # Only pods of the same rollout count; else the new ones are spread around the old ones that are about to go.
    matchLabelKeys: [{{ $hash }}]
  {{- end }}
{{- end -}}

{{/* usage: include "windlass.disruptionBudget" (dict "root" $ "name" "…" "selector" "windlass.api.selector") */}}
{{- define "windlass.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "windlass.labels" .root | nindent 4 }}
spec:
  # Not minAvailable: with a single replica that would hold up the drain of its node for ever.
  maxUnavailable: 1
  # A replica that is broken anyway never blocks a drain.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include .selector .root | nindent 6 }}
{{- end -}}

{{/* usage: include "windlass.serviceMonitor" (dict "root" $ "name" "…" "selector" "…" "port" "metrics") */}}
{{- define "windlass.serviceMonitor" -}}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "windlass.labels" .root | nindent 4 }}
    {{- with .root.Values.metrics.serviceMonitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- include .selector .root | nindent 6 }}
  endpoints:
    - port: {{ .port }}
      interval: {{ .root.Values.metrics.serviceMonitor.interval }}
{{- end -}}

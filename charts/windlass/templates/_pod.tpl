{{/*
Where the pods of a component may and should run. usage:
include "windlass.scheduling" (dict "root" $ "values" .Values.api "selector" "windlass.api.selector")
*/}}
{{- define "windlass.scheduling" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
affinity:
  {{- mergeOverwrite (include "windlass.spread" . | fromYaml) (.values.affinity | default dict) | toYaml | nindent 2 }}
{{- end -}}

{{/*
One node's loss must not take all replicas, where there is more than one node, nor one zone's. Not by
topologySpreadConstraints: the scheduler passes over all of them on a node that lacks the label of any, and many clusters
have no zones. usage: as above
*/}}
{{- define "windlass.spread" -}}
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    {{- range $key, $weight := dict "kubernetes.io/hostname" 100 "topology.kubernetes.io/zone" 50 }}
    - weight: {{ $weight }}
      podAffinityTerm:
        topologyKey: {{ $key }}
        labelSelector:
          matchLabels:
            {{- include $.selector $.root | nindent 12 }}
        # Only pods of the same rollout count; else the new ones are spread around the old ones that are about to go.
        # Kubernetes 1.30 ignores it, where the gate MatchLabelKeysInPodAffinity is off.
        matchLabelKeys: [{{ eq $.selector "windlass.nats.selector" | ternary "controller-revision-hash" "pod-template-hash" }}]
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

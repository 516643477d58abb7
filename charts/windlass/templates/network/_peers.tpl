{{- define "windlass.network.dns" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end -}}

{{/* The way to the event bus: our own servers, or the ports of somebody else's, whose address no selector can name. */}}
{{- define "windlass.network.toBus" -}}
{{- if .Values.nats.url }}
- ports:
    {{- range splitList "," .Values.nats.url }}
    - { protocol: TCP, port: {{ regexFind "[0-9]+$" (regexFind ":[0-9]+$" .) | default "4222" }} }
    {{- end }}
{{- else if include "windlass.nats.enabled" . }}
- to:
    - podSelector:
        matchLabels:
          {{- include "windlass.nats.selector" . | nindent 10 }}
  ports:
    - { protocol: TCP, port: client }
{{- end }}
{{- end -}}

{{/* What lies outside of the cluster: no selector can name it, so only its ports can be given. */}}
{{- define "windlass.network.toProvider" -}}
{{- range compact (list .Values.api.oidc.issuer .Values.api.oidc.jwksUrl) }}
{{ include "windlass.network.toUrl" . }}
{{- end }}
{{- end -}}

{{- define "windlass.network.toStore" -}}
{{- if eq .Values.outputStore.kind "s3" }}
{{- include "windlass.network.toUrl" (.Values.outputStore.s3.endpoint | default "https://") }}
{{- end }}
{{- end -}}

{{- define "windlass.network.toPayments" -}}
{{- if .Values.api.billing.existingSecret }}
{{- include "windlass.network.toUrl" "https://" }}
{{- end }}
{{- end -}}

{{/* The port that a URL names, or else the one of its scheme. usage: include "…" url */}}
{{- define "windlass.network.toUrl" -}}
{{- $authority := regexFind "^[^/]*" (regexReplaceAll "^[a-z]+://" . "") -}}
{{- $known := hasPrefix "http://" . | ternary "80" "443" -}}
- ports:
    - { protocol: TCP, port: {{ regexFind ":[0-9]+$" $authority | trimPrefix ":" | default $known }} }
{{- end -}}

{{- define "windlass.network.extra" -}}
{{- with .Values.networkPolicy.extraEgress }}
{{- toYaml . }}
{{- end }}
{{- end -}}

{{/* The rules of these templates, as a list; empty where none has any. usage: include "…" (dict "root" $ "rules" (list "…")) */}}
{{- define "windlass.network.egress" -}}
{{- $rules := list }}
{{- range .rules }}
{{- $rules = append $rules (include . $.root | trim) }}
{{- end }}
{{- with compact $rules }}
egress:
  {{- range . }}
  {{- . | nindent 2 }}
  {{- end }}
{{- else }}
egress: []
{{- end }}
{{- end -}}

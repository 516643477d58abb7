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

{{/* Ports of the identity provider, where they are not the one of HTTPS. */}}
{{- define "windlass.network.toProvider" -}}
{{- range list .Values.api.oidc.issuer .Values.api.oidc.jwksUrl }}
{{- with regexFind ":[0-9]+" (regexReplaceAll "^[a-z]+://" . "") }}
- ports:
    - { protocol: TCP, port: {{ trimPrefix ":" . }} }
{{- end }}
{{- end }}
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

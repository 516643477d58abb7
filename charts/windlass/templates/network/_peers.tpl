{{/*
Every port is a number, never the name that the pod gives it: OVN-Kubernetes does not know names, and opens all ports
instead.
*/}}

{{- define "windlass.network.dns" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end -}}

{{/*
The API server is no pod that a selector could name, so only its ports can be given: those of the values, and the one
behind its Service, which is what an engine sees, where Helm can ask the cluster.
*/}}
{{- define "windlass.network.apiServer" -}}
{{- $ports := list }}
{{- $found := lookup "discovery.k8s.io/v1" "EndpointSlice" "default" "kubernetes" }}
{{- range .Values.networkPolicy.apiServerPorts }}
{{- $ports = append $ports (int .) }}
{{- end }}
{{- range $found.ports }}
{{- $ports = append $ports (int .port) }}
{{- end }}
- ports:
    {{- range uniq $ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end -}}

{{/* The way to the event bus: our own servers, or the ports of a foreign one, whose address no selector can name. */}}
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
    - { protocol: TCP, port: 4222 }
{{- end }}
{{- end -}}

{{/* Targets outside the cluster: no selector can name them, so only their ports can be given. */}}
{{- define "windlass.network.toProvider" -}}
{{- range compact (list .Values.api.oidc.issuer .Values.api.oidc.jwksUrl) }}
{{ include "windlass.network.toUrl" . }}
{{- end }}
{{- end -}}

{{- define "windlass.network.toGatewayProvider" -}}
{{- range compact (list (include "windlass.gateway.issuer" .) (include "windlass.gateway.jwksUrl" .)) }}
{{ include "windlass.network.toUrl" . }}
{{- end }}
{{- end -}}

{{/* The tool gateway, whose tools agents call. */}}
{{- define "windlass.network.toGateway" -}}
{{- if .Values.gateway.enabled }}
- to:
    - podSelector:
        matchLabels:
          {{- include "windlass.gateway.selector" . | nindent 10 }}
  ports:
    - { protocol: TCP, port: 8090 }
{{- end }}
{{- end -}}

{{/* Registered APIs, which the gateway itself vets at each connect: only their ports can be given. */}}
{{- define "windlass.network.toUpstreams" -}}
{{- with .Values.gateway.upstreamPorts }}
- ports:
    {{- range . }}
    - { protocol: TCP, port: {{ int . }} }
    {{- end }}
{{- end }}
{{- end -}}

{{- define "windlass.network.toStore" -}}
{{- if eq .Values.outputStore.kind "s3" }}
{{- include "windlass.network.toUrl" (.Values.outputStore.s3.endpoint | default "https://") }}
{{- if not .Values.outputStore.s3.existingSecret }}
# Sources of credentials of a ServiceAccount or a node: the agent of EKS Pod Identity, and the metadata service.
- to:
    {{- range list "169.254.170.23/32" "169.254.169.254/32" "fd00:ec2::23/128" "fd00:ec2::254/128" }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
  ports:
    - { protocol: TCP, port: 80 }
{{- end }}
{{- end }}
{{- end -}}

{{/* Providers of models and of web search. Ollama's own port is no rule: the endpoint names it. */}}
{{- define "windlass.network.toModels" -}}
{{- $rules := list }}
{{- range concat (.Values.nodeConfig.llm_providers | default list) (.Values.nodeConfig.builtin_dispatchers | default list) }}
{{- if or .type .endpoint (eq (toString .name) "web.search") }}
{{- $rules = append $rules (include "windlass.network.toUrl" (.endpoint | default .base_url | default "https://")) }}
{{- end }}
{{- end }}
{{- range uniq $rules }}
{{ . }}
{{- end }}
{{- end -}}

{{/*
Pages of `web.fetch`, where it has an entry. The API itself vets each address at each connect: of the internet only the ports
can be given, and any port of the internal networks that the entry opens.
*/}}
{{- define "windlass.network.toPages" -}}
{{- range .Values.nodeConfig.builtin_dispatchers }}
{{- if eq (toString .name) "web.fetch" }}
- ports:
    - { protocol: TCP, port: 80 }
    - { protocol: TCP, port: 443 }
{{- with .allow_internal_addresses }}
- to:
    {{- range . }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* MCP servers, which the gateway itself vets at each connect: only their ports can be given. */}}
{{- define "windlass.network.toMcpServers" -}}
{{- $rules := list }}
{{- range .Values.nodeConfig.mcp_servers }}
{{- if ne (toString .transport) "stdio" }}
{{- $rules = append $rules (include "windlass.network.toUrl" (toString .url)) }}
{{- end }}
{{- end }}
{{- range uniq $rules }}
{{ . }}
{{- end }}
{{- if include "windlass.mcpPrograms" . }}
- to:
    - podSelector:
        matchLabels: { app.kubernetes.io/name: windlass-mcp-program }
  ports:
    - { protocol: TCP, port: 8080 }
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

{{/* MCP servers over stdio: a pod for each tenant of each, which lib/node-config/read-node-config.ts names alike. */}}

{{/* Not empty where there is one. */}}
{{- define "windlass.mcpPrograms" -}}
{{- range .Values.nodeConfig.mcp_servers }}{{ if eq (toString .transport) "stdio" }}{{ .name }} {{ end }}{{ end }}
{{- end -}}

{{/* Secret with the keys of their pods. */}}
{{- define "windlass.mcpPrograms.secret" -}}windlass-mcp-programs{{- end -}}

{{/* usage: include "…" (dict "server" "NAME" "tenant" "SLUG") */}}
{{- define "windlass.mcpPrograms.name" -}}
mcp-{{ .server }}-{{ .tenant | sha256sum | trunc 10 }}
{{- end -}}

{{/* usage: include "…" (dict "root" $ "server" "NAME" "tenant" "SLUG") */}}
{{- define "windlass.mcpPrograms.labels" -}}
app.kubernetes.io/name: windlass-mcp-program
app.kubernetes.io/instance: {{ include "windlass.mcpPrograms.name" . }}
app.kubernetes.io/component: mcp-program
app.kubernetes.io/part-of: windlass
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
windlass.dev/mcp-server: {{ .server | quote }}
windlass.dev/mcp-tenant: {{ .tenant | quote }}
{{- end -}}

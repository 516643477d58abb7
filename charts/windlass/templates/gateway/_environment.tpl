{{/* The whole configuration of the tool gateway. README.md has it as a table. */}}
{{- define "windlass.gateway.env" -}}
{{- with .Values.gateway }}
- { name: WINDLASS_LOG_LEVEL, value: {{ .logLevel | quote }} }
- { name: SEAL_GATEWAY_PORT, value: "8090" }
- { name: SEAL_GATEWAY_INTERNAL_PORT, value: "8091" }
- { name: WINDLASS_RATE_LIMIT_PER_SECOND, value: {{ .rateLimitPerSecond | int64 | quote }} }
- { name: WINDLASS_DRAIN_SECONDS, value: {{ .drainSeconds | int64 | quote }} }
{{- /* 5 s for answers about what is given up and for closing, and 5 s before the kubelet kills. */}}
- { name: WINDLASS_GRACE_SECONDS, value: {{ sub (.terminationGracePeriodSeconds | int64) 10 | quote }} }
{{- with .toolWorkflows }}
- { name: WINDLASS_TOOL_WORKFLOW_STEPS, value: {{ .steps | int64 | quote }} }
- { name: WINDLASS_TOOL_WORKFLOW_BODY_BYTES, value: {{ .bodyBytes | int64 | quote }} }
- { name: WINDLASS_TOOL_WORKFLOW_RESPONSE_BYTES, value: {{ .responseBytes | int64 | quote }} }
- { name: WINDLASS_TOOL_WORKFLOW_STEP_SECONDS, value: {{ .stepSeconds | int64 | quote }} }
- { name: WINDLASS_TOOL_WORKFLOW_SECONDS, value: {{ .seconds | int64 | quote }} }
{{- end }}
- name: WINDLASS_SYSTEM_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- { name: WINDLASS_SYSTEM_TENANT, value: {{ $.Values.systemTenant.slug | quote }} }
- { name: SEAL_GATEWAY_OPERATOR_JWT_ISSUER, value: {{ include "windlass.gateway.issuer" $ | quote }} }
- { name: SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE, value: {{ .oidc.audience | default $.Values.api.oidc.audience | quote }} }
- { name: SEAL_GATEWAY_OPERATOR_ROLE_CLAIM, value: {{ $.Values.api.oidc.claims.role | quote }} }
{{- with include "windlass.gateway.jwksUrl" $ }}
- { name: SEAL_GATEWAY_OPERATOR_JWKS_URL, value: {{ . | quote }} }
{{- end }}
- { name: SEAL_GATEWAY_JWKS_CACHE_TTL_SECS, value: {{ $.Values.api.oidc.jwksTtlSeconds | int64 | quote }} }
{{- end }}
{{- with .Values.api.oidc }}
{{- if .caConfigMap }}
- { name: WINDLASS_OIDC_CA_FILE, value: /etc/windlass/oidc/ca.crt }
{{- end }}
- { name: OIDC_ALLOW_HTTP, value: {{ .allowHttp | quote }} }
- { name: WINDLASS_OIDC_ALGORITHMS, value: {{ join "," .algorithms | quote }} }
- { name: WINDLASS_OIDC_JWKS_GRACE_SECONDS, value: {{ .jwksGraceSeconds | int64 | quote }} }
{{- include "windlass.roleScopesEnv" .roleScopes }}
{{- end }}
- { name: WINDLASS_GATEWAY_AUDIT_KEY, value: /etc/windlass/gateway-audit/key.pem }
{{- with .Values.gateway.audit.formerPublicKeys }}
- { name: WINDLASS_GATEWAY_AUDIT_FORMER_KEYS, value: {{ . | quote }} }
{{- end }}
- { name: SEAL_GATEWAY_SEAL_JWT_ISSUER, value: {{ .Values.seal.issuer | quote }} }
- { name: SEAL_GATEWAY_SEAL_JWT_AUDIENCE, value: {{ .Values.seal.audience | quote }} }
{{- include "windlass.s3.env" . }}
{{- include "windlass.bus.env" . }}
{{- if .Values.nodeConfig.mcp_servers }}
{{- include "windlass.nodeConfig.env" . }}
{{- end }}
{{- /* A signed call waits for the event bus and for an upstream: a nursery of 4 MiB copies what is still in use a fifth of the time. */}}
- { name: NODE_OPTIONS, value: --max-old-space-size-percentage=75 --max-semi-space-size=16 }
{{- end -}}

{{- define "windlass.gateway.issuer" -}}{{ .Values.gateway.oidc.issuer | default .Values.api.oidc.issuer }}{{- end -}}

{{/* The API's address of keys is for the API's issuer. */}}
{{- define "windlass.gateway.jwksUrl" -}}
{{- if .Values.gateway.oidc.issuer -}}{{ .Values.gateway.oidc.jwksUrl }}
{{- else -}}{{ .Values.gateway.oidc.jwksUrl | default .Values.api.oidc.jwksUrl }}
{{- end -}}
{{- end -}}

{{- define "windlass.gateway.auditSecret" -}}
{{- .Values.gateway.audit.existingSecret | default (printf "%s-audit" (include "windlass.gateway" .)) -}}
{{- end -}}

{{/* Secrets with keys of MCP servers, as JSON: those of the values, and that of the pods of programs. */}}
{{- define "windlass.gateway.mcpSecrets" -}}
{{- $secrets := .Values.gateway.mcpSecrets }}
{{- if include "windlass.mcpPrograms" . }}{{ $secrets = append $secrets (include "windlass.mcpPrograms.secret" .) }}{{ end }}
{{- toJson $secrets }}
{{- end -}}

{{/* Files that the gateway reads. */}}
{{- define "windlass.gateway.volumes" }}
{{- include "windlass.bus.volumes" . }}
- name: gateway-audit
  secret: { secretName: {{ include "windlass.gateway.auditSecret" . | quote }}, items: [{ key: key.pem, path: key.pem }] }
{{- with .Values.api.oidc.caConfigMap }}
- name: oidc
  configMap: { name: {{ . | quote }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- if .Values.nodeConfig.mcp_servers }}
{{- include "windlass.nodeConfig.filesOf" (dict "root" $ "secrets" (include "windlass.gateway.mcpSecrets" . | fromJsonArray)) }}
{{- end }}
{{- end -}}
{{- define "windlass.gateway.volumeMounts" }}
{{- include "windlass.bus.volumeMounts" . }}
- { name: gateway-audit, mountPath: /etc/windlass/gateway-audit, readOnly: true }
{{- if .Values.api.oidc.caConfigMap }}
- { name: oidc, mountPath: /etc/windlass/oidc, readOnly: true }
{{- end }}
{{- if .Values.nodeConfig.mcp_servers }}
{{- include "windlass.nodeConfig.mountsOf" (include "windlass.gateway.mcpSecrets" . | fromJsonArray) }}
{{- end }}
{{- end -}}

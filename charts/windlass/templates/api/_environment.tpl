{{/* "true" where the API runs. */}}
{{- define "windlass.api.enabled" -}}
{{- $enabled := toString .Values.api.enabled -}}
{{- if or (eq $enabled "true") (and (eq $enabled "auto") .Values.api.oidc.issuer) -}}true{{- end -}}
{{- end -}}

{{/* The whole configuration of the API. README.md has it as a table. */}}
{{- define "windlass.api.env" -}}
{{- with .Values.api }}
- { name: WINDLASS_LOG_LEVEL, value: {{ .logLevel | quote }} }
- { name: WINDLASS_HTTP_PORT, value: "8080" }
- { name: WINDLASS_INTERNAL_PORT, value: "8081" }
{{- with .publicUrl }}
- { name: WINDLASS_PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
- { name: WINDLASS_RATE_LIMIT_PER_SECOND, value: {{ .rateLimitPerSecond | int64 | quote }} }
- { name: WINDLASS_DRAIN_SECONDS, value: {{ .drainSeconds | int64 | quote }} }
{{- /* 5 s for answers about what is given up and for closing, and 5 s before the kubelet kills. */}}
- { name: WINDLASS_GRACE_SECONDS, value: {{ sub (.terminationGracePeriodSeconds | int64) 10 | quote }} }
- name: WINDLASS_SYSTEM_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- { name: WINDLASS_SYSTEM_TENANT, value: {{ $.Values.systemTenant.slug | quote }} }
- { name: WINDLASS_OPERATORS_ONLY, value: {{ .operatorsOnly | quote }} }
- { name: WINDLASS_OIDC_ISSUER, value: {{ .oidc.issuer | quote }} }
- { name: WINDLASS_OIDC_AUDIENCE, value: {{ .oidc.audience | quote }} }
{{- with .oidc.jwksUrl }}
- { name: WINDLASS_OIDC_JWKS_URL, value: {{ . | quote }} }
{{- end }}
{{- if .oidc.caConfigMap }}
- { name: WINDLASS_OIDC_CA_FILE, value: /etc/windlass/oidc/ca.crt }
{{- end }}
- { name: OIDC_ALLOW_HTTP, value: {{ .oidc.allowHttp | quote }} }
- { name: WINDLASS_OIDC_CLIENT_ID, value: {{ .oidc.clientId | quote }} }
- { name: WINDLASS_OIDC_CLIENT_SCOPES, value: {{ join " " .oidc.clientScopes | quote }} }
- { name: WINDLASS_OIDC_ALGORITHMS, value: {{ join "," .oidc.algorithms | quote }} }
- { name: WINDLASS_OIDC_JWKS_TTL_SECONDS, value: {{ .oidc.jwksTtlSeconds | int64 | quote }} }
- { name: WINDLASS_OIDC_JWKS_GRACE_SECONDS, value: {{ .oidc.jwksGraceSeconds | int64 | quote }} }
- { name: WINDLASS_OIDC_TENANT_CLAIM, value: {{ .oidc.claims.tenant | quote }} }
- { name: WINDLASS_OIDC_ROLE_CLAIM, value: {{ .oidc.claims.role | quote }} }
- { name: WINDLASS_OIDC_TEAM_CLAIM, value: {{ .oidc.claims.team | quote }} }
{{- include "windlass.roleScopesEnv" .oidc.roleScopes }}
- { name: WINDLASS_OIDC_KIND_CLAIM, value: {{ .oidc.claims.kind | quote }} }
- { name: WINDLASS_OIDC_USERNAME_CLAIM, value: {{ .oidc.claims.username | quote }} }
- { name: WINDLASS_OIDC_SERVICE_ACCOUNT_PREFIX, value: {{ .oidc.serviceAccountPrefix | quote }} }
- { name: WINDLASS_OIDC_SERVICE_ACCOUNT_BY_USERNAME, value: {{ .oidc.serviceAccountByUsername | quote }} }
{{- if .grpc.tlsSecret }}
- { name: WINDLASS_GRPC_PORT, value: "50051" }
- { name: WINDLASS_GRPC_TLS_CERT_FILE, value: /etc/windlass/grpc/tls.crt }
- { name: WINDLASS_GRPC_TLS_KEY_FILE, value: /etc/windlass/grpc/tls.key }
- { name: WINDLASS_GRPC_CLIENT_CA_FILE, value: /etc/windlass/{{ empty .grpc.clientCaSecret | ternary "grpc" "grpc-clients" }}/ca.crt }
{{- end }}
{{- include "windlass.api.billingEnv" .billing }}
{{- end }}
{{- include "windlass.s3.env" . }}
{{- include "windlass.archive.env" . }}
{{- include "windlass.bus.env" . }}
{{- include "windlass.nodeConfig.env" . }}
- { name: WINDLASS_SYSTEM_IMAGE, value: {{ .Values.steps.systemImage | quote }} }
{{- with .Values.git.image }}
- { name: WINDLASS_GIT_IMAGE, value: {{ . | quote }} }
{{- end }}
{{- if .Values.gateway.enabled }}
- { name: WINDLASS_GATEWAY_URL, value: "http://{{ include "windlass.gateway" . }}.{{ .Release.Namespace }}.svc:{{ .Values.gateway.service.port }}" }
{{- end }}
- { name: WINDLASS_SEAL_KEY, value: /etc/windlass/seal/key.pem }
{{- include "windlass.edge.env" . }}
{{- if .Values.relay.enabled }}
- { name: WINDLASS_EDGE_ENDPOINT, value: {{ include "windlass.relay.endpoint" . | quote }} }
{{- end }}
- { name: SEAL_GATEWAY_SEAL_JWT_ISSUER, value: {{ .Values.seal.issuer | quote }} }
- { name: SEAL_GATEWAY_SEAL_JWT_AUDIENCE, value: {{ .Values.seal.audience | quote }} }
{{ include "windlass.nodeOptions" . }}
{{- end -}}

{{/* Without a key the rest has no meaning, and with one it needs the pages of the installation's own site. usage: include "windlass.api.billingEnv" .Values.api.billing */}}
{{- define "windlass.api.billingEnv" -}}
{{- if .existingSecret }}
{{- range $page := list "successUrl" "cancelUrl" "returnUrl" }}
{{- if not (index $ $page) }}
{{- fail (printf "api.billing.existingSecret is given: give api.billing.%s too, the address of a page that browsers come back to from the payment provider" $page) }}
{{- end }}
{{- end }}
- name: PAYMENT_PROVIDER_SECRET_KEY
  valueFrom: { secretKeyRef: { name: {{ .existingSecret | quote }}, key: secret_key } }
- { name: PAYMENT_PROVIDER_INSTALLATION, value: {{ .installation | quote }} }
- { name: PAYMENT_PROVIDER_SUCCESS_URL, value: {{ .successUrl | quote }} }
- { name: PAYMENT_PROVIDER_CANCEL_URL, value: {{ .cancelUrl | quote }} }
- { name: PAYMENT_PROVIDER_RETURN_URL, value: {{ .returnUrl | quote }} }
{{- with .returnOrigins }}
- { name: PAYMENT_PROVIDER_RETURN_ORIGINS, value: {{ join "," . | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{- define "windlass.sealSecret" -}}
{{- .Values.seal.existingSecret | default (printf "%s-seal" (include "windlass.api" .)) -}}
{{- end -}}

{{/* Files that the API reads. */}}
{{- define "windlass.api.volumes" }}
{{- include "windlass.bus.volumes" . }}
{{- include "windlass.nodeConfig.volumes" . }}
- name: seal
  secret: { secretName: {{ include "windlass.sealSecret" . | quote }}, items: [{ key: key.pem, path: key.pem }] }
{{- include "windlass.edge.volumes" . }}
{{- with .Values.api.oidc.caConfigMap }}
- name: oidc
  configMap: { name: {{ . | quote }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- with .Values.api.grpc.tlsSecret }}
- name: grpc
  secret: { secretName: {{ . | quote }} }
{{- end }}
{{- with .Values.api.grpc.clientCaSecret }}
- name: grpc-clients
  secret: { secretName: {{ . | quote }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- end -}}
{{- define "windlass.api.volumeMounts" }}
{{- include "windlass.bus.volumeMounts" . }}
{{- include "windlass.nodeConfig.volumeMounts" . }}
- { name: seal, mountPath: /etc/windlass/seal, readOnly: true }
{{- include "windlass.edge.volumeMounts" . }}
{{- if .Values.api.oidc.caConfigMap }}
- { name: oidc, mountPath: /etc/windlass/oidc, readOnly: true }
{{- end }}
{{- if .Values.api.grpc.tlsSecret }}
- { name: grpc, mountPath: /etc/windlass/grpc, readOnly: true }
{{- end }}
{{- if .Values.api.grpc.clientCaSecret }}
- { name: grpc-clients, mountPath: /etc/windlass/grpc-clients, readOnly: true }
{{- end }}
{{- end -}}

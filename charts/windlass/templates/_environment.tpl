{{/* Variables of more than one process. Each begins with a line break, since it follows others. */}}

{{/* The bucket of large outputs; nothing where config maps hold them. */}}
{{- define "windlass.s3.env" }}
{{- if eq .Values.outputStore.kind "s3" }}
{{- with .Values.outputStore.s3 }}
- { name: WINDLASS_S3_BUCKET, value: {{ .bucket | quote }} }
- { name: WINDLASS_S3_REGION, value: {{ .region | quote }} }
- { name: WINDLASS_S3_PREFIX, value: {{ .prefix | quote }} }
- { name: WINDLASS_S3_PATH_STYLE, value: {{ .pathStyle | quote }} }
{{- with .endpoint }}
- { name: WINDLASS_S3_ENDPOINT, value: {{ . | quote }} }
{{- end }}
{{- with .existingSecret }}
- name: AWS_ACCESS_KEY_ID
  valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: access_key_id } }
- name: AWS_SECRET_ACCESS_KEY
  valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: secret_access_key } }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
The heap, and a small nursery, which is collected often and keeps the process small; it costs no speed as long as requests
leave nothing behind (ADR 0029). V8 takes its size at the start only: a program cannot set it for itself.
*/}}
{{- define "windlass.nodeOptions" -}}
- { name: NODE_OPTIONS, value: --max-old-space-size-percentage=75 --max-semi-space-size=4 }
{{- end -}}

{{/* How the event bus is reached, and what it keeps; nothing where there is none. */}}
{{- define "windlass.bus.env" }}
{{- $url := include "windlass.nats.url" . }}
{{- if $url }}
{{- with .Values.nats }}
- { name: WINDLASS_NATS_URL, value: {{ $url | quote }} }
{{- with include "windlass.nats.passwordSecret" $ }}
- { name: WINDLASS_NATS_USER, value: {{ $.Values.nats.auth.user | quote }} }
- name: WINDLASS_NATS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: password } }
{{- end }}
{{- if .credentials.existingSecret }}
- { name: WINDLASS_NATS_CREDENTIALS_FILE, value: /etc/windlass/nats-credentials/nats.creds }
{{- end }}
{{- if .tls.existingSecret }}
- { name: WINDLASS_NATS_CA_FILE, value: /etc/windlass/nats-tls/ca.crt }
{{- if .tls.clientCertificate }}
- { name: WINDLASS_NATS_CERT_FILE, value: /etc/windlass/nats-tls/tls.crt }
- { name: WINDLASS_NATS_KEY_FILE, value: /etc/windlass/nats-tls/tls.key }
{{- end }}
{{- end }}
- { name: WINDLASS_NATS_REPLICAS, value: {{ .replicaCount | int64 | quote }} }
- { name: WINDLASS_EVENTS_MAX_AGE_HOURS, value: {{ .events.maxAgeHours | int64 | quote }} }
- { name: WINDLASS_EVENTS_MAX_MB, value: {{ .events.maxMb | int64 | quote }} }
- { name: WINDLASS_AUDIT_MAX_AGE_HOURS, value: {{ .audit.maxAgeHours | int64 | quote }} }
- { name: WINDLASS_AUDIT_MAX_MB, value: {{ .audit.maxMb | int64 | quote }} }
- { name: WINDLASS_CONVERSATIONS_MAX_MB, value: {{ .conversations.maxMb | int64 | quote }} }
- { name: WINDLASS_EDGE_RESULTS_MAX_MB, value: {{ .edgeResults.maxMb | int64 | quote }} }
- { name: WINDLASS_KEYS_MAX_MB, value: {{ .keys.maxMb | int64 | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{/* Limits of the archive of finished executions. */}}
{{- define "windlass.archive.env" }}
{{- with .Values.archive }}
- { name: WINDLASS_ARCHIVE, value: {{ .enabled | quote }} }
- { name: WINDLASS_ARCHIVE_MAX_AGE_DAYS, value: {{ .maxAgeDays | int64 | quote }} }
- { name: WINDLASS_ARCHIVE_MAX_MB, value: {{ .maxMb | int64 | quote }} }
- { name: WINDLASS_ARCHIVE_GRACE_SECONDS, value: {{ .graceSeconds | int64 | quote }} }
{{- end }}
{{- end -}}

{{/* Files that the bus is reached with, as volumes and where they are mounted. */}}
{{- define "windlass.bus.volumes" }}
{{- if include "windlass.nats.url" . }}
{{- with .Values.nats.credentials.existingSecret }}
- name: nats-credentials
  secret: { secretName: {{ . | quote }}, items: [{ key: nats.creds, path: nats.creds }] }
{{- end }}
{{- with .Values.nats.tls.existingSecret }}
- name: nats-tls
  secret: { secretName: {{ . | quote }} }
{{- end }}
{{- end }}
{{- end -}}
{{- define "windlass.bus.volumeMounts" }}
{{- if include "windlass.nats.url" . }}
{{- if .Values.nats.credentials.existingSecret }}
- { name: nats-credentials, mountPath: /etc/windlass/nats-credentials, readOnly: true }
{{- end }}
{{- if .Values.nats.tls.existingSecret }}
- { name: nats-tls, mountPath: /etc/windlass/nats-tls, readOnly: true }
{{- end }}
{{- end }}
{{- end -}}

{{/* Scopes of the roles of the identity provider, which the API and the gateway read alike. */}}
{{- define "windlass.roleScopesEnv" -}}
{{- if . }}
{{- $roles := list }}
{{- range $role, $scopes := . }}{{ $roles = append $roles (printf "%s=%s" $role (join "," $scopes)) }}{{ end }}
- { name: WINDLASS_OIDC_ROLE_SCOPES, value: {{ join ";" $roles | quote }} }
{{- end }}
{{- end -}}

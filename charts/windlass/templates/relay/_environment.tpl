{{/* The whole configuration of the relay. README.md has it as a table. */}}
{{- define "windlass.relay.env" -}}
{{- with .Values.relay }}
- { name: WINDLASS_LOG_LEVEL, value: {{ .logLevel | quote }} }
- { name: WINDLASS_RELAY_PORT, value: "50056" }
- { name: WINDLASS_RELAY_INTERNAL_PORT, value: "50057" }
- { name: WINDLASS_RELAY_KEY, value: /etc/windlass/relay-key/key.pem }
{{- if .tls.existingSecret }}
- { name: WINDLASS_RELAY_TLS_CERT_FILE, value: /etc/windlass/relay-tls/tls.crt }
- { name: WINDLASS_RELAY_TLS_KEY_FILE, value: /etc/windlass/relay-tls/tls.key }
{{- end }}
{{- with .trustedProxies }}
- { name: WINDLASS_RELAY_TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
- { name: WINDLASS_NODE_TOKEN_SECONDS, value: {{ .nodeTokenSeconds | int64 | quote }} }
- { name: WINDLASS_KEY_OVERLAP_SECONDS, value: {{ .keyOverlapSeconds | int64 | quote }} }
- { name: WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS, value: {{ .heartbeatIntervalSeconds | int64 | quote }} }
- { name: WINDLASS_STALE_THRESHOLD_SECS, value: {{ .staleThresholdSeconds | int64 | quote }} }
- { name: WINDLASS_DRAIN_SECONDS, value: {{ .drainSeconds | int64 | quote }} }
{{- end }}
- name: WINDLASS_SYSTEM_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- { name: WINDLASS_SYSTEM_TENANT, value: {{ .Values.systemTenant.slug | quote }} }
{{- include "windlass.bus.env" . }}
{{- /* A fleet that connects leaves streams that stay: a nursery of 4 MiB copies each of them more often on its way to the old part. */}}
- { name: NODE_OPTIONS, value: --max-old-space-size-percentage=75 --max-semi-space-size=16 }
{{- end -}}

{{/* Where daemons connect to. The name of the Service is known inside the cluster only. */}}
{{- define "windlass.relay.endpoint" -}}
{{- .Values.relay.endpoint | default (printf "%s.%s.svc:%d" (include "windlass.relay" .) .Release.Namespace (int .Values.relay.service.port)) -}}
{{- end -}}

{{- define "windlass.relay.keySecret" -}}
{{- .Values.relay.key.existingSecret | default (printf "%s-key" (include "windlass.relay" .)) -}}
{{- end -}}

{{/* Files that the relay reads. */}}
{{- define "windlass.relay.volumes" }}
{{- include "windlass.bus.volumes" . }}
- name: relay-key
  secret: { secretName: {{ include "windlass.relay.keySecret" . | quote }}, items: [{ key: key.pem, path: key.pem }] }
{{- with .Values.relay.tls.existingSecret }}
- name: relay-tls
  secret: { secretName: {{ . | quote }}, items: [{ key: tls.crt, path: tls.crt }, { key: tls.key, path: tls.key }] }
{{- end }}
{{- end -}}
{{- define "windlass.relay.volumeMounts" }}
{{- include "windlass.bus.volumeMounts" . }}
- { name: relay-key, mountPath: /etc/windlass/relay-key, readOnly: true }
{{- if .Values.relay.tls.existingSecret }}
- { name: relay-tls, mountPath: /etc/windlass/relay-tls, readOnly: true }
{{- end }}
{{- end -}}

{{/* The key that API and controllers sign enrollment and command tokens with. The relay never holds it. */}}
{{- define "windlass.edge.secret" -}}
{{- .Values.relay.edgeKey.existingSecret | default "windlass-edge-key" -}}
{{- end -}}
{{- define "windlass.edge.env" }}
{{- if .Values.relay.enabled }}
- { name: WINDLASS_EDGE_KEY, value: /etc/windlass/edge/key.pem }
{{- end }}
{{- end -}}
{{- define "windlass.edge.volumes" }}
{{- if .Values.relay.enabled }}
- name: edge
  secret: { secretName: {{ include "windlass.edge.secret" . | quote }}, items: [{ key: key.pem, path: key.pem }] }
{{- end }}
{{- end -}}
{{- define "windlass.edge.volumeMounts" }}
{{- if .Values.relay.enabled }}
- { name: edge, mountPath: /etc/windlass/edge, readOnly: true }
{{- end }}
{{- end -}}

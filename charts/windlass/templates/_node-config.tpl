{{/* Node configuration of API, controllers and gateway: variables, files, and what restarts their pods. Nothing where it is empty. */}}

{{- define "windlass.nodeConfig.name" -}}windlass-node-config{{- end -}}

{{/* The file, as it is mounted. */}}
{{- define "windlass.nodeConfig.file" -}}
{{- toYaml (dict "spec" .Values.nodeConfig) }}
{{- end -}}

{{- define "windlass.nodeConfig.env" }}
{{- if .Values.nodeConfig }}
- { name: WINDLASS_NODE_CONFIG, value: /etc/windlass/node-config/node.yaml }
- { name: WINDLASS_NODE_SECRETS, value: /etc/windlass/node-secrets }
- { name: WINDLASS_REQUIRE_KEY_REFERENCES, value: {{ .Values.requireKeyReferences | quote }} }
{{- end }}
{{- end -}}

{{/* Models keep their provider for as long as a process runs, so a change has to end it (LLM-19). */}}
{{- define "windlass.nodeConfig.annotations" }}
{{- if .Values.nodeConfig }}
checksum/node-config: {{ include "windlass.nodeConfig.file" . | sha256sum }}
{{- end }}
{{- end -}}

{{- define "windlass.nodeConfig.volumes" }}
{{- if .Values.nodeConfig }}
{{- include "windlass.nodeConfig.filesOf" (dict "root" . "secrets" .Values.nodeSecrets) }}
{{- end }}
{{- end -}}
{{- define "windlass.nodeConfig.volumeMounts" }}
{{- if .Values.nodeConfig }}
{{- include "windlass.nodeConfig.mountsOf" .Values.nodeSecrets }}
{{- end }}
{{- end -}}

{{/* The file, and Secrets that it may name. usage: include "…" (dict "root" $ "secrets" (list "NAME")) */}}
{{- define "windlass.nodeConfig.filesOf" }}
- name: node-config
  configMap: { name: {{ include "windlass.nodeConfig.name" .root }}, items: [{ key: node.yaml, path: node.yaml }] }
{{- range $index, $name := .secrets }}
- name: node-secret-{{ $index }}
  secret: { secretName: {{ $name | quote }} }
{{- end }}
{{- end -}}
{{- define "windlass.nodeConfig.mountsOf" }}
- { name: node-config, mountPath: /etc/windlass/node-config, readOnly: true }
{{- range $index, $name := . }}
- { name: node-secret-{{ $index }}, mountPath: {{ printf "/etc/windlass/node-secrets/%s" $name | quote }}, readOnly: true }
{{- end }}
{{- end -}}

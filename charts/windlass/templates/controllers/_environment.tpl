{{/* The whole configuration of the controllers. README.md has it as a table. */}}
{{- define "windlass.controllers.env" -}}
- { name: WINDLASS_LOG_LEVEL, value: {{ .Values.controllers.logLevel | quote }} }
- { name: WINDLASS_HTTP_PORT, value: {{ .Values.metrics.port | quote }} }
- { name: WINDLASS_WORKERS, value: {{ .Values.controllers.workers | quote }} }
- { name: WINDLASS_EXECUTION_TTL_SECONDS, value: {{ .Values.controllers.executionTtlSeconds | int64 | quote }} }
- { name: WINDLASS_RUNNER_IMAGE, value: {{ include "windlass.runnerImage" . | quote }} }
- { name: WINDLASS_RUNNER_MOUNT, value: {{ .Values.runner.mount | quote }} }
- { name: WINDLASS_SYSTEM_IMAGE, value: {{ .Values.steps.systemImage | quote }} }
{{- with .Values.git.image }}
- { name: WINDLASS_GIT_IMAGE, value: {{ . | quote }} }
{{- end }}
{{- with .Values.git.allowInternalAddresses }}
- { name: WINDLASS_GIT_ALLOW_INTERNAL_ADDRESSES, value: {{ join "," . | quote }} }
{{- end }}
{{- with .Values.git.clusterNetworks }}
- { name: WINDLASS_GIT_CLUSTER_NETWORKS, value: {{ join "," . | quote }} }
{{- end }}
- { name: WINDLASS_STEP_RUN_AS_USER, value: {{ .Values.steps.runAsUser | int64 | quote }} }
- { name: WINDLASS_STEP_CPU_REQUEST, value: {{ .Values.steps.requests.cpu | quote }} }
- { name: WINDLASS_STEP_MEMORY_REQUEST, value: {{ .Values.steps.requests.memory | quote }} }
- { name: WINDLASS_STEP_EPHEMERAL_STORAGE, value: {{ .Values.steps.ephemeralStorage | quote }} }
- { name: WINDLASS_STEP_WORKDIR_SIZE, value: {{ .Values.steps.workdirSize | quote }} }
- { name: WINDLASS_STEP_ALWAYS_PULL, value: {{ .Values.steps.alwaysPullImages | quote }} }
- { name: WINDLASS_STEP_DO_NOT_DISRUPT, value: {{ .Values.steps.doNotDisrupt | quote }} }
- { name: WINDLASS_STEP_NODE_LOST_SECONDS, value: {{ .Values.steps.nodeLostSeconds | int64 | quote }} }
- { name: WINDLASS_AGENT_GATEWAY, value: {{ printf "http://%s-internal.%s.svc:8081" (include "windlass.api" .) .Release.Namespace | quote }} }
- { name: WINDLASS_VOLUME_ACCESS_MODE, value: {{ .Values.volumes.accessMode | quote }} }
- { name: WINDLASS_VOLUME_SIZE_MB, value: {{ .Values.volumes.defaultSizeMb | int64 | quote }} }
{{- with .Values.volumes.storageClass }}
- { name: WINDLASS_STORAGE_CLASS, value: {{ . | quote }} }
{{- end }}
- { name: WINDLASS_OUTPUT_STORE, value: {{ .Values.outputStore.kind | quote }} }
{{- include "windlass.s3.env" . }}
{{- include "windlass.archive.env" . }}
{{- include "windlass.bus.env" . }}
{{- include "windlass.nodeConfig.env" . }}
{{- include "windlass.edge.env" . }}
- { name: WINDLASS_SYSTEM_TENANT, value: {{ .Values.systemTenant.slug | quote }} }
- { name: WINDLASS_LEADER_ELECT, value: "true" }
- { name: WINDLASS_LEASE_NAME, value: {{ include "windlass.controllers" . }} }
- name: WINDLASS_LEASE_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: WINDLASS_POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{ include "windlass.nodeOptions" . }}
{{- end -}}

{{/* Files that the controllers read. */}}
{{- define "windlass.controllers.volumes" }}
{{- include "windlass.bus.volumes" . }}
{{- include "windlass.nodeConfig.volumes" . }}
{{- include "windlass.edge.volumes" . }}
{{- end -}}
{{- define "windlass.controllers.volumeMounts" }}
{{- include "windlass.bus.volumeMounts" . }}
{{- include "windlass.nodeConfig.volumeMounts" . }}
{{- include "windlass.edge.volumeMounts" . }}
{{- end -}}

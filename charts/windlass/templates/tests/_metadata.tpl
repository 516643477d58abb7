{{/* Metadata of the objects of `helm test`: they are deleted when the test has passed, and replaced when it runs again. */}}
{{- define "windlass.test.metadata" -}}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "windlass.labels" . | nindent 2 }}
  app.kubernetes.io/component: test
annotations:
  helm.sh/hook: test
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* The configuration of each server. What stands behind a dollar sign comes from the environment, quotes included. */}}
{{- define "windlass.nats.config" -}}
server_name: $POD_NAME
listen: 0.0.0.0:4222
http: 0.0.0.0:8222
pid_file: /tmp/nats.pid
lame_duck_grace_period: 5s
lame_duck_duration: 30s
authorization {
  user: {{ .Values.nats.auth.user | quote }}
  password: $PASSWORD
}
jetstream {
  store_dir: /data
  max_memory_store: 0
  max_file_store: {{ include "windlass.nats.storeBytes" . }}
  sync_interval: {{ .Values.nats.syncInterval | quote }}
}
{{- if gt (int64 .Values.nats.replicaCount) 1 }}
cluster {
  name: windlass
  listen: 0.0.0.0:6222
  authorization {
    user: {{ .Values.nats.auth.user | quote }}
    password: $PASSWORD
  }
  routes: [
    {{- range $i := until (int .Values.nats.replicaCount) }}
    $ROUTE_{{ $i }}
    {{- end }}
  ]
}
{{- end }}
{{- end -}}

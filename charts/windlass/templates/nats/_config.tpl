{{/* The configuration of each server. The environment gives each value behind a dollar sign, quotes included. */}}
{{- define "windlass.nats.config" -}}
server_name: $POD_NAME
listen: 0.0.0.0:4222
# It has no password, so that only the probes of this pod may reach it.
http: 127.0.0.1:8222
pid_file: /tmp/nats.pid
lame_duck_grace_period: 5s
lame_duck_duration: 30s
# A process that is frozen or cut off loses its connection, and so its addresses, within 20 s. By default it takes 8 minutes.
ping_interval: 5s
ping_max: 2
write_deadline: 10s
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

{{/*
A probe that asks the server in its own pod, where its monitor listens. By `nc`, which every busybox has in working order.
usage: include "windlass.nats.health" "js-server-only"
*/}}
{{- define "windlass.nats.health" -}}
exec:
  command:
    - sh
    - -c
    - printf 'GET /healthz?{{ . }}=true HTTP/1.0\r\n\r\n' | nc -w 5 127.0.0.1 8222 | grep -q '^HTTP/1.. 200'
{{- end -}}

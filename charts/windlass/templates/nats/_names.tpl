{{/* "true" where the release runs NATS. */}}
{{- define "windlass.nats.enabled" -}}
{{- $enabled := toString .Values.nats.enabled -}}
{{- if and (eq $enabled "true") .Values.nats.url -}}
{{- fail "nats.url names a server of your own: leave nats.enabled at auto or set it to false" -}}
{{- end -}}
{{- if eq $enabled "true" -}}true
{{- else if and (eq $enabled "auto") (not .Values.nats.url) -}}{{ include "windlass.api.enabled" . }}
{{- end -}}
{{- end -}}

{{/* Where the bus is; empty where there is none. */}}
{{- define "windlass.nats.url" -}}
{{- if .Values.nats.url -}}{{ .Values.nats.url }}
{{- else if include "windlass.nats.enabled" . -}}nats://{{ include "windlass.nats" . }}.{{ .Release.Namespace }}.svc:4222
{{- end -}}
{{- end -}}

{{/* Secret with the password of our user; empty where a server of one's own asks for none. */}}
{{- define "windlass.nats.passwordSecret" -}}
{{- if .Values.nats.auth.existingSecret -}}{{ .Values.nats.auth.existingSecret }}
{{- else if not .Values.nats.url -}}windlass-nats-auth
{{- end -}}
{{- end -}}

{{/* Nine tenths of a server's volume, in bytes; the rest is the file system's and for snapshots. */}}
{{- define "windlass.nats.storeBytes" -}}
{{- $size := .Values.nats.storage.size -}}
{{- $unit := get (dict "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776) (regexFind "[MGT]i$" $size) -}}
{{- div (mul (regexFind "^[0-9]+" $size | int64) $unit 9) 10 -}}
{{- end -}}

{{/*
Buckets whose keys live for a day or longer and that callers may fill, each with `nats.keys.maxMb`: idempotency keys; with the
gateway sessions, their owners and their counts of calls; with the relay commands of hosts.
*/}}
{{- define "windlass.nats.keyBuckets" -}}
{{- add 1 (ternary 3 0 .Values.gateway.enabled) (ternary 1 0 .Values.relay.enabled) -}}
{{- end -}}

{{/* The streams reserve what they may come to hold: what cannot fit is better refused here than by the server. */}}
{{- define "windlass.nats.checkSize" -}}
{{- $archive := ternary (int64 .Values.archive.maxMb) 0 (and .Values.archive.enabled (ne .Values.outputStore.kind "s3")) -}}
{{- /* A store of audit events of its own, as large as the API's, and 64 MiB for the ends of its chains. */}}
{{- $gateway := ternary (add (int64 .Values.nats.audit.maxMb) 64) 0 .Values.gateway.enabled -}}
{{- $edge := ternary (int64 .Values.nats.edgeResults.maxMb) 0 .Values.relay.enabled -}}
{{- $buckets := int64 (include "windlass.nats.keyBuckets" .) -}}
{{- $keys := mul $buckets (int64 .Values.nats.keys.maxMb) -}}
{{- $wanted := mul (add (int64 .Values.nats.events.maxMb) (int64 .Values.nats.audit.maxMb) $keys (int64 .Values.nats.conversations.maxMb) $archive $gateway $edge) 1048576 -}}
{{- if gt $wanted (int64 (include "windlass.nats.storeBytes" .)) -}}
{{- fail (printf "nats.events.maxMb, nats.audit.maxMb, nats.keys.maxMb%s, nats.conversations.maxMb and archive.maxMb%s%s need more than nine tenths of nats.storage.size (%s)" (ternary "" (printf " for each of %d buckets of keys" $buckets) (eq $buckets 1)) (ternary ", and nats.audit.maxMb and 64 MiB again for the gateway" "" .Values.gateway.enabled) (ternary ", and nats.edgeResults.maxMb for edge hosts," "" .Values.relay.enabled) .Values.nats.storage.size) -}}
{{- end -}}
{{- end -}}

{{/*
The server keeps an index of all keys in memory: 540 bytes for each of 300 bytes on disk, measured. Four buckets are counted at least,
so that the gateway can be enabled later; 96 MiB are for the rest.
*/}}
{{- define "windlass.nats.checkMemory" -}}
{{- $limit := toString (get (get (.Values.nats.resources | default dict) "limits" | default dict) "memory") -}}
{{- $unit := get (dict "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "M" 1000000 "G" 1000000000) (regexFind "[A-Za-z]+$" $limit) -}}
{{- if $unit -}}
{{- $bytes := int64 (mulf (regexFind "^[0-9.]+" $limit | float64) $unit) -}}
{{- $most := div (sub $bytes (mul 96 1048576)) (mul (max 4 (int64 (include "windlass.nats.keyBuckets" .))) 540) -}}
{{- $mostMb := div (mul $most 300) 1048576 -}}
{{- if gt (int64 .Values.nats.keys.maxMb) (int64 $mostMb) -}}
{{- fail (printf "nats.keys.maxMb is %d, and nats.resources.limits.memory (%s) has room for the keys of %d at most: lower the one or raise the other" (int64 .Values.nats.keys.maxMb) $limit (int64 $mostMb)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A server that has stored streams alone deletes them when it becomes one of several (docs/operating.md). */}}
{{- define "windlass.nats.checkReplicas" -}}
{{- $found := lookup "apps/v1" "StatefulSet" .Release.Namespace (include "windlass.nats" .) -}}
{{- if and $found (not .Values.nats.allowStoreLoss) -}}
{{- $has := int64 $found.spec.replicas -}}
{{- $wants := int64 .Values.nats.replicaCount -}}
{{- if and (ne $has $wants) (or (eq $has 1) (eq $wants 1)) -}}
{{- fail (printf "nats.replicaCount is %d in the cluster: changing it to %d deletes stored events, audit and idempotency keys; save them first and set nats.allowStoreLoss=true" $has $wants) -}}
{{- end -}}
{{- end -}}
{{- end -}}

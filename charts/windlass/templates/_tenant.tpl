{{/*
The objects that make a namespace a tenant; `lib/tenant` builds the same for the command line, and a test compares them.
*/}}

{{- define "windlass.tenant.labels" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: windlass
{{- end -}}

{{- define "windlass.tenant.dns" -}}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: kube-system
      podSelector:
        matchExpressions:
          - { key: k8s-app, operator: In, values: [kube-dns, node-local-dns] }
    # DNS servers of the node itself: NodeLocal DNSCache, and Cloud DNS of GKE.
    - ipBlock: { cidr: 169.254.20.10/32 }
    - ipBlock: { cidr: 169.254.169.254/32 }
  ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end -}}

{{/* usage: include "windlass.tenant.networkPolicies" (dict "root" $ "namespace" "…" "egress" "…" "denyAll" true) */}}
{{- define "windlass.tenant.networkPolicies" -}}
{{- if .denyAll }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: windlass-default-deny
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "windlass.tenant.labels" .root | nindent 4 }}
spec:
  podSelector: {}
  policyTypes: [Ingress, Egress]
{{- end }}
{{- range $policy, $label := dict "windlass-steps" "windlass.dev/execution" "windlass-git" "windlass.dev/git-binding" }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $policy }}
  namespace: {{ $.namespace | quote }}
  labels:
    {{- include "windlass.tenant.labels" $.root | nindent 4 }}
spec:
  podSelector:
    matchExpressions:
      - { key: {{ $label }}, operator: Exists }
  policyTypes: {{ if $.denyAll }}[Egress]{{ else }}[Ingress, Egress]{{ end }}
  egress:
    {{- if eq $.egress "open" }}
    - {}
    {{- else }}
    {{- include "windlass.tenant.dns" $ | nindent 4 }}
    {{- end }}
    {{- if eq $.egress "internet" }}
    - to:
        - ipBlock:
            cidr: 0.0.0.0/0
            except:
              - 10.0.0.0/8
              - 100.64.0.0/10
              - 127.0.0.0/8
              - 168.63.129.16/32
              - 169.254.0.0/16
              - 172.16.0.0/12
              - 192.0.0.0/24
              - 192.168.0.0/16
              - 198.18.0.0/15
              - 224.0.0.0/3
        - ipBlock:
            cidr: ::/0
            except: ["::1/128", "64:ff9b::/96", "64:ff9b:1::/48", "fc00::/7", "fe80::/10", "ff00::/8"]
    {{- end }}
{{- end }}
{{- end -}}

{{/*
Pods of agents reach names and the API's internal listener, whatever steps may reach. No role is bound to their account.
usage: include "windlass.tenant.agents" (dict "root" $ "namespace" "…" "denyAll" true)
*/}}
{{- define "windlass.tenant.agents" -}}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: windlass-agent
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "windlass.tenant.labels" .root | nindent 4 }}
automountServiceAccountToken: false
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: windlass-agents
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "windlass.tenant.labels" .root | nindent 4 }}
spec:
  podSelector:
    matchExpressions:
      - { key: windlass.dev/agent-execution, operator: Exists }
  policyTypes: {{ if .denyAll }}[Egress]{{ else }}[Ingress, Egress]{{ end }}
  egress:
    {{- include "windlass.tenant.dns" . | nindent 4 }}
    - to:
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: {{ .root.Release.Namespace }}
          podSelector:
            matchLabels:
              app.kubernetes.io/name: windlass
              app.kubernetes.io/component: api
      ports:
        - { protocol: TCP, port: 8081 }
{{- end -}}

{{/* usage: include "windlass.tenant.roleBinding" (dict "root" $ "namespace" "…" "role" "…" "subjects" list) */}}
{{- define "windlass.tenant.roleBinding" -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "windlass.tenant.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .role }}
subjects:
  {{- include "windlass.subjects" .subjects | nindent 2 }}
{{- end -}}

{{- define "windlass.controllersSubject" -}}
kind: ServiceAccount
name: {{ include "windlass.controllers" . }}
namespace: {{ .Release.Namespace }}
{{- end -}}

{{- define "windlass.apiSubject" -}}
kind: ServiceAccount
name: {{ include "windlass.api" . }}
namespace: {{ .Release.Namespace }}
{{- end -}}

{{- define "windlass.gatewaySubject" -}}
kind: ServiceAccount
name: {{ include "windlass.gateway" . }}
namespace: {{ .Release.Namespace }}
{{- end -}}

{{- define "windlass.relaySubject" -}}
kind: ServiceAccount
name: {{ include "windlass.relay" . }}
namespace: {{ .Release.Namespace }}
{{- end -}}

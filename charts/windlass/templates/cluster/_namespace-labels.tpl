{{/* Metadata of the job that labels the release's namespace: it is deleted after success. usage: (dict "root" $ "weight" -1) */}}
{{- define "windlass.namespaceLabels.metadata" -}}
name: windlass-namespace-labels
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "windlass.labels" .root | nindent 2 }}
  app.kubernetes.io/component: namespace-labels
annotations:
  helm.sh/hook: post-install,post-upgrade
  helm.sh/hook-weight: {{ .weight | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{- define "windlass.namespaceLabels.program" -}}
import { readFileSync } from 'node:fs';
const { NAMESPACE, LABELS } = process.env;
const token = readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/token', 'utf8');
const label = async () => {
  const answer = await fetch(`https://kubernetes.default.svc/api/v1/namespaces/${NAMESPACE}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { labels: JSON.parse(LABELS) } }),
    signal: AbortSignal.timeout(10000),
  });
  return answer.ok ? undefined : (await answer.json()).message;
};
// The API server follows a change of the admission policies within moments.
let problem = await label();
for (let tries = 1; problem !== undefined && tries < 10; tries += 1) {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  problem = await label();
}
if (problem !== undefined) throw new Error(`the namespace ${NAMESPACE} is not labelled: ${problem}`);
console.log(`${NAMESPACE} has ${LABELS}`);
{{- end -}}

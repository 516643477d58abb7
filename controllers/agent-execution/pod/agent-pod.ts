import { apiVersion, labels } from '../../../crds/labels.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { shortHash } from '../../../lib/ids.ts';
import type { Container, Pod } from '../../../lib/kube/index.ts';
import { labelValue } from '../../../lib/pod-slot.ts';
import { agentAudience, agentServiceAccount } from '../../../lib/tenant/names.ts';
import { buildPod, type PodSettings } from '../../step-pods/template.ts';
import { agentLimits } from '../limits.ts';
import { type AgentPodPlan, workspace } from './plan-pod.ts';

const tokenVolume = 'token';
const tokenFolder = '/var/run/secrets/windlass';
/** The least that Kubernetes allows. */
const tokenSeconds = 600;
const ownVariables = 'WINDLASS_';

const readableLength = 40;

/** The same for the same attempt, so that a pod is made once. */
export const agentPodName = (execution: AgentExecution, attempt: number): string =>
  agentObjectName(execution, String(attempt));

/** The name of an object that belongs to an execution; the same for the same `part`. */
export function agentObjectName({ metadata: { name, uid = '' } }: AgentExecution, part: string): string {
  const readable = name.slice(0, readableLength).replace(/[^a-z0-9]+$/, '');
  return `${readable}-${shortHash(uid, 10)}-${part}`;
}

export interface AgentPodSettings extends PodSettings {
  /** Address of the API's internal listener. */
  readonly gateway: string;
}

/**
 * The pod of an agent: that of a step (design §6), whose first process is `runner agent`. Its one credential is a token
 * for our own audience, bound to the pod; its service account has no right in the cluster (design §12).
 */
export function buildAgentPod(
  execution: AgentExecution,
  attempt: number,
  { step, runtimeClass, modelAlias }: AgentPodPlan,
  settings: AgentPodSettings,
): Pod {
  const { name, namespace = '', uid = '' } = execution.metadata;
  const owner = {
    apiVersion,
    kind: 'AgentExecution',
    name,
    namespace,
    uid,
    labels: { [labels.executionUid]: uid, [labels.agentExecution]: labelValue(name) },
  };
  const podName = {
    name: agentPodName(execution, attempt),
    labels: { [labels.attempt]: String(attempt) },
    annotations: {},
  };
  const pod = buildPod(owner, podName, step, settings);
  const { finalizers: _held, ...metadata } = pod.metadata;
  return {
    ...pod,
    metadata,
    spec: {
      ...pod.spec,
      serviceAccountName: agentServiceAccount,
      ...(runtimeClass === undefined ? {} : { runtimeClassName: runtimeClass }),
      ...lifetime(execution),
      containers: pod.spec.containers.map((container) => agentContainer(container, execution, modelAlias, settings)),
      volumes: [...(pod.spec.volumes ?? []), token],
    },
  };
}

const token = {
  name: tokenVolume,
  projected: {
    sources: [{ serviceAccountToken: { audience: agentAudience, expirationSeconds: tokenSeconds, path: 'token' } }],
  },
} as const;

function agentContainer(
  step: Container,
  { metadata, status }: AgentExecution,
  modelAlias: string,
  { gateway }: AgentPodSettings,
): Container {
  const settings = {
    WINDLASS_GATEWAY: gateway,
    WINDLASS_AGENT_ID: status?.agent?.uid ?? '',
    WINDLASS_EXECUTION_ID: metadata.uid ?? '',
    WINDLASS_MODEL_ALIAS: modelAlias.replaceAll('$', '$$$$'),
    WINDLASS_WORKSPACE: workspace,
    WINDLASS_TOKEN_FILE: `${tokenFolder}/token`,
  };
  return {
    ...step,
    command: ['/windlass/runner', 'agent'],
    // The last of two variables of one name counts.
    env: [
      ...(step.env ?? []).filter(({ name }) => !name.startsWith(ownVariables)),
      ...Object.entries(settings).map(([name, value]) => ({ name, value })),
      { name: 'WINDLASS_POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
    ],
    volumeMounts: [...(step.volumeMounts ?? []), { name: tokenVolume, mountPath: tokenFolder, readOnly: true }],
    // Where the runner gives up it says why on its standard error.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

function lifetime({ status }: AgentExecution): { readonly activeDeadlineSeconds?: number } {
  const { started_at: begun, deadline } = status ?? {};
  if (begun === undefined || deadline === undefined) return {};
  const ms = Date.parse(deadline) - Date.parse(begun) + agentLimits.deadlineGraceMs;
  return { activeDeadlineSeconds: Math.min(Math.ceil(ms / 1_000), 2_147_483_647) };
}

import { describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { StepPlan } from '../../step-pods/step.ts';
import { agentPodName, buildAgentPod } from './agent-pod.ts';

const settings = {
  runnerImage: 'runner:1',
  systemImage: 'busybox:1',
  imageVolumes: true,
  runAsUser: 65_532,
  workdirSize: '4Gi',
  alwaysPull: false,
  defaultResources: {},
  nodeLostSeconds: 60,
  gateway: 'http://api:8081',
};
const step: StepPlan = {
  imagePullPolicy: 'IfNotPresent',
  argv: [],
  env: { LANG: 'C', PRICE: '$5', WINDLASS_GATEWAY: 'http://elsewhere' },
  workdir: '/workspace',
  mounts: [{ claim: 'c', mountPath: '/data', readOnly: true }],
  timeoutMs: 0,
};
const execution: AgentExecution = {
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: { name: 'run', namespace: 'tenant-a', uid: 'execution-uid' },
  spec: { agent: 'reviewer' },
  status: {
    agent: { name: 'reviewer', namespace: 'tenant-a', uid: 'agent-uid', version: '1.0.0', revision: 'r' },
    started_at: '2026-01-02T00:00:00.000Z',
    deadline: '2026-01-02T00:15:00.000Z',
  },
};
const pod = buildAgentPod(execution, 2, { step, modelAlias: 'smart', runtimeClass: undefined }, settings);
const [container] = pod.spec.containers;

describe('design §12 the pod of an agent', () => {
  it('belongs to its execution, and nothing holds it', () => {
    expect(pod.metadata).toMatchObject({
      namespace: 'tenant-a',
      labels: { 'windlass.dev/execution-uid': 'execution-uid', 'windlass.dev/agent-execution': 'run' },
      ownerReferences: [{ kind: 'AgentExecution', name: 'run', uid: 'execution-uid', controller: true }],
    });
    expect(pod.metadata.finalizers).toBeUndefined();
    expect(pod.metadata.labels).not.toHaveProperty('windlass.dev/execution');
  });

  it('runs the bootstrap with its settings, which no variable of the agent replaces', () => {
    expect(container?.command).toEqual(['/windlass/runner', 'agent']);
    expect(container?.env).toEqual([
      { name: 'LANG', value: 'C' },
      { name: 'PRICE', value: '$$5' },
      { name: 'WINDLASS_GATEWAY', value: 'http://api:8081' },
      { name: 'WINDLASS_AGENT_ID', value: 'agent-uid' },
      { name: 'WINDLASS_EXECUTION_ID', value: 'execution-uid' },
      { name: 'WINDLASS_MODEL_ALIAS', value: 'smart' },
      { name: 'WINDLASS_WORKSPACE', value: '/workspace' },
      { name: 'WINDLASS_TOKEN_FILE', value: '/var/run/secrets/windlass/token' },
      { name: 'WINDLASS_POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
    ]);
  });

  it('AMB-017 has one credential: a token for our audience alone', () => {
    const secrets = pod.spec.volumes?.filter(
      ({ projected, secret }) => projected !== undefined || secret !== undefined,
    );
    expect(secrets).toEqual([
      {
        name: 'token',
        projected: {
          sources: [{ serviceAccountToken: { audience: 'windlass-agents', expirationSeconds: 600, path: 'token' } }],
        },
      },
    ]);
    expect(pod.spec).toMatchObject({ serviceAccountName: 'windlass-agent', automountServiceAccountToken: false });
    expect(container?.volumeMounts?.find(({ name }) => name === 'token')).toEqual({
      name: 'token',
      mountPath: '/var/run/secrets/windlass',
      readOnly: true,
    });
  });

  it('is as confined as the pod of a step', () => {
    expect(pod.spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container?.securityContext).toEqual({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
    expect(pod.spec.restartPolicy).toBe('Never');
  });

  it('ends a minute after its execution, whatever happens', () => {
    expect(pod.spec.activeDeadlineSeconds).toBe(15 * 60 + 60);
  });

  it('WF-AGENT-04 has the RuntimeClass of its isolation, or none', () => {
    expect(pod.spec).not.toHaveProperty('runtimeClassName');
    const isolated = buildAgentPod(execution, 1, { step, modelAlias: 'm', runtimeClass: 'kata' }, settings);
    expect(isolated.spec.runtimeClassName).toBe('kata');
  });

  it('AMB-197 has another name for each attempt, and for an execution of the same name', () => {
    const again = { ...execution, metadata: { ...execution.metadata, uid: 'other' } };
    const names = [agentPodName(execution, 1), agentPodName(execution, 2), agentPodName(again, 1)];
    expect(new Set(names).size).toBe(3);
    expect(pod.metadata.name).toBe(names[1]);
  });

  it.each(['a', `${'a'.repeat(39)}.b`, 'a'.repeat(253)])('has a legal name for %s', (name) => {
    const named = { ...execution, metadata: { ...execution.metadata, name } };
    expect(agentPodName(named, 4)).toMatch(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])$/);
  });
});

import { describe, expect, it } from 'vitest';
import type { AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution, AgentExecutionSpec } from '../../../crds/schema/agent-execution.ts';
import type { Volume, VolumeStatus } from '../../../crds/schema/volume.ts';
import { anAgent } from '../../../test/builders/agent-builder.ts';
import { planPod } from './plan-pod.ts';

const runtimes = [
  { language: 'python', version: '3.11', image: 'python:3.11' },
  { language: 'python', version: '3.12', image: 'python:3.12' },
];
const mount = (mount_path = '/data', volume = 'data') => ({
  volume,
  mount_path,
  access_mode: 'read-only' as const,
});
const ready: VolumeStatus = { phase: 'ready', claim_name: 'claim-of-data' };

interface Given {
  readonly agent?: Partial<AgentSpec>;
  readonly spec?: Partial<AgentExecutionSpec>;
  readonly isolation?: Readonly<Record<string, string>>;
  /** `null`: there is no such volume. */
  readonly volume?: VolumeStatus | null;
  readonly isNew?: boolean;
  readonly known?: typeof runtimes;
}

function plan({ agent, spec, isolation = {}, volume = ready, isNew = false, known = runtimes }: Given) {
  const metadata = { name: 'run', namespace: 'tenant-a', uid: 'u' };
  const execution: AgentExecution = {
    apiVersion: 'windlass.dev/v1',
    kind: 'AgentExecution',
    metadata,
    spec: { agent: 'reviewer', ...spec },
  };
  const there = { metadata: { name: 'data' }, spec: {}, status: volume } as Volume;
  return planPod({
    execution,
    agent: anAgent('reviewer', agent).spec,
    nodeConfig: { runtimes: known, isolation },
    volumeOf: (name) => (volume === null || name !== 'data' ? undefined : there),
    isNew,
  });
}
const imageOf = (agent: Partial<AgentSpec>, known = runtimes): unknown => {
  const planned = plan({ agent, known });
  return planned.kind === 'plan' ? planned.plan.step.image : planned;
};

describe('AGENT-12 the image of an agent', () => {
  it.each([
    ['its own', { image: 'own:1', language: 'python', version: '3.12' }, 'own:1'],
    ['that of its language and version', { language: 'python', version: '3.12' }, 'python:3.12'],
    ['the first one of its language', { language: 'python' }, 'python:3.11'],
    ['that of System commands without a language', {}, undefined],
  ])('is %s', (_title, runtime, image) => {
    expect(imageOf({ runtime })).toBe(image);
  });

  it('AGENT-13 is that of System commands, and the model is default, for an agent without a runtime', () => {
    const { runtime: _, ...agent } = anAgent().spec;
    const metadata = { name: 'run', namespace: 'tenant-a', uid: 'u' };
    const execution = { apiVersion: 'windlass.dev/v1', kind: 'AgentExecution', metadata, spec: { agent: 'reviewer' } };
    const nodeConfig = { runtimes, isolation: {} };
    const planned = planPod({ execution, agent, nodeConfig, volumeOf: () => undefined, isNew: false } as never);
    expect(planned).toMatchObject({ kind: 'plan', plan: { modelAlias: 'default' } });
    expect(planned).not.toHaveProperty('plan.step.image');
  });

  it('is that of System commands for every language where the node configuration has none', () => {
    expect(imageOf({ runtime: { language: 'perl', version: '5' } }, [])).toBeUndefined();
  });

  it.each([
    ['a version', { language: 'python', version: '3.13' }, 'python 3.13'],
    ['a language', { language: 'perl' }, 'perl'],
  ])('AGENT-11 is not that of another runtime for %s that is not configured', (_title, runtime, named) => {
    const message = expect.stringContaining(`no image for ${named}, only for python 3.11, python 3.12;`) as string;
    expect(imageOf({ runtime })).toEqual({ kind: 'failed', why: { reason: 'RuntimeUnavailable', message } });
  });
});

describe('WF-AGENT-04 AMB-081 the isolation of an agent', () => {
  const classes = { inherit: 'i', firecracker: 'f', docker: 'd', process: 'p' };

  it.each([
    [undefined, undefined],
    ['inherit', undefined],
    ['docker', undefined],
  ] as const)('%s needs no RuntimeClass', (isolation, runtimeClass) => {
    const spec = isolation === undefined ? {} : { isolation };
    expect(plan({ spec })).toMatchObject({ kind: 'plan', plan: { runtimeClass } });
  });

  it.each(['firecracker', 'process'] as const)('%s is never run with less than it', (isolation) => {
    expect(plan({ spec: { isolation } })).toMatchObject({ kind: 'failed', why: { reason: 'IsolationUnavailable' } });
  });

  it.each([
    [undefined, 'i'],
    ['inherit', 'i'],
    ['firecracker', 'f'],
    ['docker', 'd'],
    ['process', 'p'],
  ] as const)('%s is the RuntimeClass %s where one is configured', (isolation, runtimeClass) => {
    const spec = isolation === undefined ? {} : { isolation };
    expect(plan({ spec, isolation: classes })).toMatchObject({ kind: 'plan', plan: { runtimeClass } });
  });
});

describe('the volumes of an agent', () => {
  it('are the claims of Volumes that are ready', () => {
    expect(plan({ spec: { volumes: [mount()] } })).toMatchObject({
      plan: { step: { mounts: [{ claim: 'claim-of-data', mountPath: '/data', readOnly: true }] } },
    });
  });

  it.each([
    ['is being made', {}, 'waits', 'VolumesPending'],
    ['is pending', { phase: 'pending' }, 'waits', 'VolumesPending'],
    ['has failed', { phase: 'failed' }, 'failed', 'VolumeFailed'],
    ['has expired', { phase: 'expired', claim_name: 'c' }, 'failed', 'VolumeExpired'],
    ['is not there', null, 'failed', 'VolumeNotFound'],
  ] as const)('that %s: the execution %s', (title, status, kind, reason) => {
    expect(title).not.toBe('');
    const volume = status as VolumeStatus | null;
    expect(plan({ spec: { volumes: [mount()] }, volume })).toMatchObject({ kind, why: { reason } });
  });

  it('may not be known yet to an execution that is new', () => {
    expect(plan({ spec: { volumes: [mount()] }, volume: null, isNew: true })).toMatchObject({ kind: 'waits' });
  });

  it.each([
    '/',
    '//',
    '/windlass',
    '/windlass/',
    '/windlass/x',
    '/var/run/secrets/windlass',
    '/proc/1',
    '/a/../b',
    '/a:b',
  ])('are not mounted at %s', (path) => {
    expect(plan({ spec: { volumes: [mount(path)] } })).toMatchObject({
      kind: 'failed',
      why: { reason: 'InvalidMount' },
    });
  });

  it.each(['/windlass-data', '/data', '/workspace', '/var/run/secretsx'])('are mounted at %s', (path) => {
    expect(plan({ spec: { volumes: [mount(path)] } })).toMatchObject({ kind: 'plan' });
  });

  it('of the definition are mounted beside those of the execution, which come first at one folder', () => {
    const spec = { volumes: [{ ...mount('/data/'), access_mode: 'read-write' as const }] };
    expect(plan({ agent: { volumes: [mount('/usual'), mount('/data')] }, spec })).toMatchObject({
      plan: {
        step: {
          mounts: [
            { mountPath: '/data/', readOnly: false },
            { mountPath: '/usual', readOnly: true },
          ],
        },
      },
    });
    expect(plan({ agent: { volumes: [mount('/usual')] }, volume: null })).toMatchObject({
      why: { reason: 'VolumeNotFound' },
    });
  });

  it('are not mounted twice at one place', () => {
    expect(plan({ spec: { volumes: [mount('/data'), mount('/data/')] } })).toMatchObject({
      why: { reason: 'InvalidMount' },
    });
  });
});

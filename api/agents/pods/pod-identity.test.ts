import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { KubeError, type Pod } from '../../../lib/kube/index.ts';
import { createManualClock, type ManualClock } from '../../../test/support/manual-clock.ts';
import { createPodIdentity, type PodRequest } from './pod-identity.ts';

const execution = {
  metadata: { name: 'run', namespace: 'acme', uid: 'e-1' },
  status: { pod: { name: 'run', uid: 'pod-1' } },
} as unknown as AgentExecution;
const running = {
  metadata: { name: 'run', namespace: 'acme', uid: 'pod-1' },
  spec: { containers: [] },
  status: { phase: 'Running', podIP: '10.0.0.7', containerStatuses: [{ state: { running: {} } }] },
} as unknown as Pod;

const claims = Buffer.from(JSON.stringify({ 'kubernetes.io': { pod: { uid: 'pod-1' } } })).toString('base64url');
const byAddress: PodRequest = { authorization: undefined, remoteAddress: '::ffff:10.0.0.7' };
const byToken: PodRequest = { authorization: `Bearer x.${claims}.x`, remoteAddress: '10.0.0.9' };

/** The pod as the API server has it. */
let stored: Pod | undefined;
let clock: ManualClock;
let reads: number;
/** Answers of the API server to the next questions, before it says yes. */
let refusals: number;
let trouble: KubeError | undefined;
let identity: ReturnType<typeof createPodIdentity>;

beforeEach(() => {
  stored = running;
  reads = 0;
  clock = createManualClock();
  refusals = 0;
  trouble = undefined;
  identity = createPodIdentity({
    clock,
    kube: {
      async get() {
        reads += 1;
        if (trouble !== undefined) throw trouble;
        if (stored === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'pods' });
        return stored as never;
      },
      reviewToken: async () =>
        refusals-- > 0 ? { isAuthenticated: false, podUid: undefined } : { isAuthenticated: true, podUid: 'pod-1' },
    },
  });
});

const withStatus = (status: object): Pod => ({ ...running, status: { ...running.status, ...status } }) as Pod;

describe('a pod that proves itself by its address', () => {
  it.each<[string, Pod | undefined]>([
    ['is deleted', undefined],
    ['has another successor of its name', { ...running, metadata: { ...running.metadata, uid: 'pod-2' } }],
    ['has succeeded', withStatus({ phase: 'Succeeded' })],
    ['has failed', withStatus({ phase: 'Failed' })],
    ['has no container any more', withStatus({ containerStatuses: [{ state: { terminated: { exitCode: 0 } } }] })],
  ])('lends its address to no other from the moment that it %s', async (_title, later) => {
    expect((await identity.require(execution, byAddress)).metadata.uid).toBe('pod-1');
    stored = later;
    await expect(identity.require(execution, byAddress)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is refused at another address', async () => {
    const other = { ...byAddress, remoteAddress: '10.0.0.8' };
    await expect(identity.require(execution, other)).rejects.toMatchObject({ reason: 'ForeignPod' });
  });
});

describe('a pod that proves itself by its token', () => {
  it('is read from the API server once, whatever its address is', async () => {
    for (const _ of [1, 2]) expect((await identity.require(execution, byToken)).metadata.uid).toBe('pod-1');
    expect(reads).toBe(1);
  });

  it('§11 is kept without what its author chooses the size of', async () => {
    const large = 'x'.repeat(100_000);
    const env = [{ name: 'LARGE', value: large }];
    stored = {
      ...running,
      metadata: { ...running.metadata, annotations: { large }, managedFields: [large] },
      spec: { containers: [{ name: 'agent', env }] },
      status: {
        ...running.status,
        message: large,
        containerStatuses: [{ name: 'agent', containerID: 'c://1', image: large }],
      },
    } as unknown as Pod;
    for (const _ of [1, 2]) {
      const pod = await identity.require(execution, byToken);
      expect(pod.status?.containerStatuses?.[0]?.containerID).toBe('c://1');
      expect(JSON.stringify(pod).length).toBeLessThan(1_000);
    }
  });

  it('is asked again about soon where the API server refused its token once', async () => {
    refusals = 1;
    await expect(identity.require(execution, byToken)).rejects.toMatchObject({ reason: 'ForeignPod' });
    await clock.advance(1_999);
    await expect(identity.require(execution, byToken)).rejects.toMatchObject({ reason: 'ForeignPod' });
    await clock.advance(2);
    expect((await identity.require(execution, byToken)).metadata.uid).toBe('pod-1');
  });

  it('is not gone by an answer that is none of the API server', async () => {
    trouble = new KubeError(404, { message: '404 page not found' }, { verb: 'get', resource: 'pods' });
    await expect(identity.require(execution, byToken)).rejects.toBe(trouble);
  });
});

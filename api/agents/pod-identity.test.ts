import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { systemClock } from '../../lib/clock.ts';
import { KubeError, type Pod } from '../../lib/kube/index.ts';
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
let reads: number;
let identity: ReturnType<typeof createPodIdentity>;

beforeEach(() => {
  stored = running;
  reads = 0;
  identity = createPodIdentity({
    clock: systemClock,
    kube: {
      async get() {
        reads += 1;
        if (stored === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'pods' });
        return stored as never;
      },
      reviewToken: async () => ({ isAuthenticated: true, podUid: 'pod-1' }),
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
});

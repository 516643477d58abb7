import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { KubeError, type Pod } from '../../../lib/kube/index.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { createPodIdentity } from './pod-identity.ts';
import { createPodSenders, type PodSenders } from './pod-senders.ts';

const execution = {
  metadata: { name: 'run', namespace: 'acme', uid: 'e-1' },
  status: { pod: { name: 'run', uid: 'pod-1' } },
} as unknown as AgentExecution;

const tokenOf = (uid: string): string => {
  const claims = Buffer.from(JSON.stringify({ 'kubernetes.io': { pod: { uid } } })).toString('base64url');
  return `Bearer x.${claims}.x`;
};
const remoteAddress = '::ffff:10.0.0.7';
const byAddress = { authorization: undefined, remoteAddress };

let podIP: string;
let isAuthentic: boolean;
let trouble: KubeError | undefined;
let asked: number;
let senders: PodSenders;

beforeEach(() => {
  podIP = '10.0.0.7';
  isAuthentic = true;
  trouble = undefined;
  asked = 0;
  const kube = {
    async get() {
      asked += 1;
      if (trouble !== undefined) throw trouble;
      const metadata = { name: 'run', namespace: 'acme', uid: 'pod-1' };
      return { metadata, spec: { containers: [] }, status: { podIP } } as Pod as never;
    },
    async reviewToken() {
      asked += 1;
      return { isAuthenticated: isAuthentic, podUid: isAuthentic ? 'pod-1' : undefined };
    },
  };
  senders = createPodSenders({
    executions: {
      cache: {
        getByUid: (uid) => (uid === 'e-1' ? execution : undefined),
        byIndex: (_index, uid) => (uid === 'pod-1' ? [execution] : []),
      },
    },
    tenants: { tenantOf: (namespace) => namespace },
    identity: createPodIdentity({ kube, clock: createManualClock() }),
  });
});

describe('the tenant of a pod, before the body of its request is read', () => {
  it('AMB-197 is that of the execution whose pod the token is bound to', async () => {
    expect(await senders.tenantOf({ authorization: tokenOf('pod-1'), remoteAddress: '10.9.9.9' })).toBe('acme');
  });

  it('AMB-197 is unknown for a token that only claims the pod', async () => {
    isAuthentic = false;
    expect(await senders.tenantOf({ authorization: tokenOf('pod-1'), remoteAddress })).toBeUndefined();
  });

  it.each([
    ['names a pod of no execution', tokenOf('pod-2')],
    ['is none', 'Bearer none'],
    ['is of another form', 'Basic abc'],
  ])('is unknown, and costs the API server nothing, where the token %s', async (_title, authorization) => {
    expect(await senders.tenantOf({ authorization, remoteAddress })).toBeUndefined();
    expect(asked).toBe(0);
  });

  it('AMB-197 is that of an address which was its proof before, for as long as the pod has it', async () => {
    expect(await senders.tenantOf(byAddress)).toBeUndefined();
    expect(asked).toBe(0);
    senders.proved(execution, byAddress);
    expect(await senders.tenantOf(byAddress)).toBe('acme');
    podIP = '10.0.0.8';
    expect(await senders.tenantOf(byAddress)).toBeUndefined();
  });

  it('is no matter of the address where a token was the proof', async () => {
    senders.proved(execution, { authorization: tokenOf('pod-1'), remoteAddress });
    expect(await senders.tenantOf(byAddress)).toBeUndefined();
  });

  it('is asked for again where the API server is away', async () => {
    trouble = new KubeError(503, { message: 'away' }, { verb: 'get', resource: 'pods' });
    await expect(senders.tenantOf({ authorization: tokenOf('pod-1'), remoteAddress })).rejects.toBe(trouble);
  });
});

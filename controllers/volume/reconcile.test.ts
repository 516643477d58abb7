import { describe, expect, it } from 'vitest';
import type { Volume, VolumeSpec } from '../../crds/schema/volume.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { KubeError, type PersistentVolumeClaim, type Pod } from '../../lib/kube/index.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import type { RecordedEvent } from '../runtime/events.ts';
import { createVolumeReconcile } from './reconcile.ts';

const expired = '2025-12-31T23:59:59.000Z';

/** A volume whose time is over with its claim, and what was asked of the API server, which answers a delete with `error`. */
function setUp(spec: Partial<VolumeSpec> = {}, error?: Error) {
  const deletes: unknown[] = [];
  const happenings: RecordedEvent[] = [];
  const volume: Volume = {
    apiVersion: 'windlass.dev/v1',
    kind: 'Volume',
    metadata: { name: 'data', namespace: 'tenant', uid: 'volume-uid', resourceVersion: '1' },
    spec: { storage_class: 'ephemeral', expires_at: expired, ...spec },
  };
  const claim: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: spec.claim_name ?? 'data',
      namespace: 'tenant',
      uid: 'claim-uid',
      resourceVersion: '2',
      ownerReferences: [{ apiVersion: 'windlass.dev/v1', kind: 'Volume', name: 'data', uid: 'volume-uid' }],
    },
    spec: { accessModes: [], resources: {} },
  };
  const caches = {
    volumes: createCache<Volume>(),
    claims: createCache<PersistentVolumeClaim>(),
    pods: createCache<Pod, 'claim'>({ indexes: { claim: () => [] } }),
  };
  caches.volumes.replaceAll([volume], '5');
  caches.claims.replaceAll([claim], '5');
  const kube = {
    jsonPatchStatus: async () => volume,
    delete: async (_: unknown, ref: unknown, options: unknown) => {
      deletes.push([ref, options]);
      if (error !== undefined) throw error;
      return true;
    },
  };
  const reconcile = createVolumeReconcile({
    kube: kube as never,
    clock: createManualClock(),
    events: { record: (happening) => void happenings.push(happening), flush: async () => undefined },
    facts: { raise: () => undefined },
    ...caches,
    settings: { defaultSizeMb: 1, accessMode: 'ReadWriteOnce' },
  });
  const notes = () => happenings.map(({ note }) => note);
  return { reconcile, deletes, notes, gone: () => caches.volumes.replaceAll([], '6') };
}

const conflict = new KubeError(409, { reason: 'Conflict' } as never, { verb: 'delete', resource: 'claims' });

describe('WF-STOR-11 a volume whose time is over', () => {
  it('takes the claim that was decided on, and no later one of its name', async () => {
    const { reconcile, deletes, notes } = setUp();
    await reconcile('tenant/data');
    expect(deletes).toEqual([[{ name: 'data', namespace: 'tenant' }, { uid: 'claim-uid' }]]);
    expect(notes()).toEqual([`expired at ${expired}; its data are deleted`]);
  });

  it('leaves another claim of that name alone without a word', async () => {
    await expect(setUp({}, conflict).reconcile('tenant/data')).resolves.toBeUndefined();
  });

  it('keeps a claim that was made elsewhere, and says so then and when it is deleted', async () => {
    const { reconcile, deletes, notes, gone } = setUp({ claim_name: 'made-before' });
    await reconcile('tenant/data');
    gone();
    await reconcile('tenant/data');
    expect(deletes).toEqual([]);
    const kept = 'claim made-before stays, for it was made elsewhere';
    expect(notes()).toEqual([`expired at ${expired}; ${kept}`, `deleted; ${kept}`]);
  });
});

describe('AMB-190 a volume whose claim the API server refuses to make', () => {
  const quota = 'persistentvolumeclaims "data" is forbidden: exceeded quota: few, requested: 1, used: 3, limited: 3';
  const refusal = (status: number, reason: string, message: string) =>
    new KubeError(status, { reason, message } as never, { verb: 'create', resource: 'persistentvolumeclaims' });

  const waiting = (error: Error, reason?: string) => {
    const writes: string[] = [];
    const happenings: RecordedEvent[] = [];
    const volume: Volume = {
      apiVersion: 'windlass.dev/v1',
      kind: 'Volume',
      metadata: { name: 'data', namespace: 'tenant', uid: 'volume-uid', resourceVersion: '1' },
      spec: { storage_class: 'ephemeral' },
      status: reason === undefined ? {} : { conditions: [{ type: 'Ready', status: 'False', reason, message: '' }] },
    } as Volume;
    const caches = {
      volumes: createCache<Volume>(),
      claims: createCache<PersistentVolumeClaim>(),
      pods: createCache<Pod, 'claim'>({ indexes: { claim: () => [] } }),
    };
    caches.volumes.replaceAll([volume], '5');
    caches.claims.replaceAll([], '5');
    const kube = {
      create: async () => Promise.reject(error),
      jsonPatchStatus: async (_: unknown, __: unknown, patch: unknown) => {
        writes.push(JSON.stringify(patch));
        return volume;
      },
    };
    const reconcile = createVolumeReconcile({
      kube: kube as never,
      clock: createManualClock(),
      events: { record: (happening) => void happenings.push(happening), flush: async () => undefined },
      facts: { raise: () => undefined },
      ...caches,
      settings: { defaultSizeMb: 1, accessMode: 'ReadWriteOnce' },
    });
    return { reconcile, writes, happenings };
  };

  it.each([
    refusal(403, 'Forbidden', quota),
    refusal(400, 'BadRequest', 'admission webhook "sizes.example.com" denied the request: too large'),
    refusal(422, 'Invalid', 'spec.resources: Invalid value'),
  ])('says so in its status and an Event, and is tried again: %s', async (error) => {
    const { reconcile, writes, happenings } = waiting(error);
    await expect(reconcile('tenant/data')).rejects.toBe(error);
    const message = `no claim could be made: ${error.serverMessage}`;
    expect(writes).toHaveLength(1);
    expect(writes[0]).toContain(JSON.stringify(message).slice(1, -1));
    expect(writes[0]).toMatch(/phase","value":"pending"/);
    expect(happenings).toMatchObject([{ type: 'Warning', reason: 'ClaimRefused', note: message }]);
  });

  it('tells of it in one Event, however often it is tried', async () => {
    const { reconcile, happenings } = waiting(refusal(403, 'Forbidden', quota), 'ClaimRefused');
    await expect(reconcile('tenant/data')).rejects.toThrow(quota);
    expect(happenings).toEqual([]);
  });

  it.each([
    refusal(500, 'InternalError', 'etcdserver: request timed out'),
    refusal(403, 'Forbidden', 'unable to create new content in namespace tenant because it is being terminated'),
  ])('says nothing of what is no refusal of the claim: %s', async (error) => {
    const { reconcile, writes, happenings } = waiting(error);
    await expect(reconcile('tenant/data')).rejects.toBe(error);
    expect([writes, happenings]).toEqual([[], []]);
  });
});

describe('D8 a volume whose claim the cache does not show', () => {
  const asOf = (uid: string, resourceVersion: string): PersistentVolumeClaim => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'data',
      namespace: 'tenant',
      uid: `claim-of-${uid}`,
      resourceVersion,
      ownerReferences: [{ apiVersion: 'windlass.dev/v1', kind: 'Volume', name: 'data', uid }],
    },
    spec: { accessModes: [], resources: {} },
  });

  /** A volume that was ready, what the cache shows of its claim, and what the API server says of it. */
  function setUpLag({ phase = 'ready', cached = [] as PersistentVolumeClaim[], onServer = true } = {}) {
    const phases: unknown[] = [];
    const asked: unknown[] = [];
    const volume = {
      apiVersion: 'windlass.dev/v1',
      kind: 'Volume',
      metadata: { name: 'data', namespace: 'tenant', uid: 'volume-uid', resourceVersion: '3' },
      spec: { storage_class: 'ephemeral' },
      status: { phase, claim_name: 'data' },
    } as Volume;
    const caches = {
      volumes: createCache<Volume>(),
      claims: createCache<PersistentVolumeClaim>(),
      pods: createCache<Pod, 'claim'>({ indexes: { claim: () => [] } }),
    };
    caches.volumes.replaceAll([volume], '3');
    caches.claims.replaceAll(cached, '3');
    const kube = {
      get: async (_: unknown, ref: unknown) => {
        asked.push(ref);
        if (onServer) return asOf('volume-uid', '4');
        throw new KubeError(404, { reason: 'NotFound' } as never, { verb: 'get', resource: 'claims' });
      },
      jsonPatchStatus: async (_: unknown, __: unknown, patch: readonly { path: string; value: unknown }[]) => {
        phases.push(...patch.filter(({ path }) => path === '/status/phase').map(({ value }) => value));
        return volume;
      },
    };
    const reconcile = createVolumeReconcile({
      kube: kube as never,
      clock: createManualClock(),
      events: { record: () => undefined, flush: async () => undefined },
      facts: { raise: () => undefined },
      ...caches,
      settings: { defaultSizeMb: 1, accessMode: 'ReadWriteOnce' },
    });
    return { reconcile, phases, asked, claims: caches.claims };
  }

  it.each([
    ['nothing', []],
    ['the claim of an earlier volume of its name', [asOf('earlier-uid', '2')]],
  ])('stays ready where the API server has it and the cache has %s', async (_, cached) => {
    const { reconcile, phases, asked, claims } = setUpLag({ cached });
    await reconcile('tenant/data');
    expect({ phases, asked }).toEqual({ phases: [], asked: [{ namespace: 'tenant', name: 'data' }] });
    expect(claims.get('tenant/data')?.metadata.uid).toBe('claim-of-volume-uid');
  });

  it('has failed where the API server has it no more', async () => {
    const { reconcile, phases } = setUpLag({ onServer: false });
    await reconcile('tenant/data');
    expect(phases).toEqual(['failed']);
  });

  it('is not asked for again once it has failed', async () => {
    const { reconcile, phases, asked } = setUpLag({ phase: 'failed' });
    await reconcile('tenant/data');
    expect({ phases, asked }).toEqual({ phases: [], asked: [] });
  });
});

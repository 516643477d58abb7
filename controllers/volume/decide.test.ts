import { describe, expect, it } from 'vitest';
import type { Volume, VolumeSpec, VolumeStatus } from '../../crds/schema/volume.ts';
import type { PersistentVolumeClaim } from '../../lib/kube/index.ts';
import { decideVolume } from './decide.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const at = (milliseconds: number): string => new Date(now + milliseconds).toISOString();

function aVolume(spec: Partial<VolumeSpec> = {}, status?: VolumeStatus): Volume {
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'Volume',
    metadata: { name: 'data', namespace: 'tenant', uid: 'volume-uid', generation: 3 },
    spec: { storage_class: 'ephemeral', ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

interface ClaimFields {
  readonly owner?: string;
  readonly phase?: string;
  readonly deleting?: boolean;
}

function aClaim({ owner = 'volume-uid', phase = 'Bound', deleting = false }: ClaimFields = {}): PersistentVolumeClaim {
  const ownerReferences = [{ apiVersion: 'windlass.dev/v1', kind: 'Volume', name: 'data', uid: owner }];
  return {
    metadata: {
      name: 'data',
      namespace: 'tenant',
      ownerReferences,
      ...(deleting ? { deletionTimestamp: at(-1) } : {}),
    },
    spec: { accessModes: [], resources: {} },
    status: { phase },
  } as PersistentVolumeClaim;
}

const wasReady: VolumeStatus = { phase: 'ready', claim_name: 'data' };

describe('decideVolume', () => {
  const rows: [
    title: string,
    volume: Volume,
    claim: PersistentVolumeClaim | undefined,
    want: { phase: string; reason: string; claim?: 'create' | 'delete' },
  ][] = [
    [
      'asks for the claim of a new volume',
      aVolume(),
      undefined,
      { phase: 'pending', reason: 'ClaimPending', claim: 'create' },
    ],
    ['is ready with its claim', aVolume(), aClaim(), { phase: 'ready', reason: 'ClaimReady' }],
    [
      'is ready before the claim is bound, for that may wait for a pod',
      aVolume(),
      aClaim({ phase: 'Pending' }),
      { phase: 'ready', reason: 'ClaimReady' },
    ],
    [
      'fails when the claim has lost its volume',
      aVolume(),
      aClaim({ phase: 'Lost' }),
      { phase: 'failed', reason: 'ClaimFailed' },
    ],
    [
      'does not take a claim of that name of another owner',
      aVolume(),
      aClaim({ owner: 'stranger' }),
      { phase: 'failed', reason: 'ClaimFailed' },
    ],
    [
      'waits while the claim of an earlier volume of that name is deleted',
      aVolume(),
      aClaim({ owner: 'earlier', deleting: true }),
      { phase: 'pending', reason: 'ClaimPending' },
    ],
    [
      'WF-STOR-12 says that the data are gone instead of making an empty claim in their place',
      aVolume({}, wasReady),
      undefined,
      { phase: 'failed', reason: 'ClaimFailed' },
    ],
    [
      'fails while a user deletes the claim under it',
      aVolume({}, wasReady),
      aClaim({ deleting: true }),
      { phase: 'failed', reason: 'ClaimFailed' },
    ],
    [
      'takes the claim that its spec names, whatever its owner',
      aVolume({ claim_name: 'data' }),
      aClaim({ owner: 'stranger' }),
      { phase: 'ready', reason: 'ClaimReady' },
    ],
    [
      'never makes a claim that its spec names',
      aVolume({ claim_name: 'data' }),
      undefined,
      { phase: 'failed', reason: 'ClaimFailed' },
    ],
    [
      'WF-STOR-11 lives a millisecond before it expires',
      aVolume({ expires_at: at(1) }),
      aClaim(),
      { phase: 'ready', reason: 'ClaimReady' },
    ],
    [
      'WF-STOR-11 is deleted at the moment it expires',
      aVolume({ expires_at: at(0) }),
      aClaim(),
      { phase: 'expired', reason: 'VolumeExpired', claim: 'delete' },
    ],
    [
      'WF-STOR-11 is deleted after it has expired',
      aVolume({ expires_at: at(-1) }),
      aClaim(),
      { phase: 'expired', reason: 'VolumeExpired', claim: 'delete' },
    ],
    [
      'asks once for the deletion of an expired claim',
      aVolume({ expires_at: at(-1) }),
      aClaim({ deleting: true }),
      { phase: 'expired', reason: 'VolumeExpired' },
    ],
    [
      'never makes a claim for a volume that has expired',
      aVolume({ expires_at: at(-1) }),
      undefined,
      { phase: 'expired', reason: 'VolumeExpired' },
    ],
    [
      'never deletes a claim of another owner',
      aVolume({ expires_at: at(-1) }),
      aClaim({ owner: 'stranger' }),
      { phase: 'expired', reason: 'VolumeExpired' },
    ],
    [
      'never deletes a claim that its spec names, whatever its owner',
      aVolume({ expires_at: at(-1), claim_name: 'data' }),
      aClaim(),
      { phase: 'expired', reason: 'VolumeExpired' },
    ],
  ];

  it.each(rows)('%s', (_title, volume, claim, want) => {
    const decision = decideVolume(volume, claim, now);
    const [condition] = decision.status.conditions ?? [];
    expect({ phase: decision.status.phase, reason: condition?.reason, claim: decision.claim }).toEqual({
      claim: undefined,
      ...want,
    });
    expect(condition).toMatchObject({ status: want.phase === 'ready' ? 'True' : 'False', observedGeneration: 3 });
  });

  it.each([
    [undefined, 'its data are deleted'],
    ['data', 'claim data stays, for it was made elsewhere'],
  ])('WF-STOR-11 says at its end what becomes of the data, with spec.claim_name %s', (claim_name, want) => {
    const { conditions } = decideVolume(aVolume({ expires_at: at(0), claim_name }), aClaim(), now).status;
    expect(conditions).toMatchObject([{ message: `expired at ${at(0)}; ${want}` }]);
  });

  it.each([
    [24, {}, 'claim data can be mounted; its StorageClass decides whether a write beyond 24 MiB fails'],
    [undefined, {}, 'claim data can be mounted'],
    [24, { claim_name: 'data' }, 'claim data can be mounted; its own size counts, and not size_limit_mb'],
  ])('WF-STOR-04 says who keeps a limit of %s MiB, with %j', (size_limit_mb, more, message) => {
    const { conditions } = decideVolume(aVolume({ size_limit_mb, ...more }), aClaim(), now).status;
    expect(conditions).toMatchObject([{ status: 'True', message }]);
  });

  it('names the claim once it could be mounted, and from then on', () => {
    expect(decideVolume(aVolume(), undefined, now).status.claim_name).toBeUndefined();
    expect(decideVolume(aVolume(), aClaim(), now).status.claim_name).toBe('data');
    expect(decideVolume(aVolume({}, wasReady), undefined, now).status.claim_name).toBe('data');
  });

  it('looks again when the volume expires, and never after', () => {
    expect(decideVolume(aVolume({ expires_at: at(5_000) }), aClaim(), now).lookAt).toBe(now + 5_000);
    expect(decideVolume(aVolume({ expires_at: at(0) }), aClaim(), now).lookAt).toBeUndefined();
    expect(decideVolume(aVolume(), aClaim(), now).lookAt).toBeUndefined();
  });

  it('decides on its own decision that nothing is left to do', () => {
    const first = decideVolume(aVolume(), aClaim(), now);
    const again = decideVolume(aVolume({}, first.status), aClaim(), now + 60_000);
    expect(again).toEqual(first);
  });
});

describe('the object of an expired volume', () => {
  const day = 24 * 3_600_000;
  const made = (age: number): Volume => {
    const volume = aVolume({ expires_at: at(-age) });
    return { ...volume, metadata: { ...volume.metadata, labels: { 'windlass.dev/execution-uid': 'x' } } };
  };

  it.each([
    [0, { lookAt: now + day }],
    [day - 1, { lookAt: now + 1 }],
    [day, { isOver: true }],
  ])('AMB-173 that was made for an execution is deleted a day later: %i ms', (age, want) => {
    expect(decideVolume(made(age), undefined, now)).toMatchObject(want);
  });

  it('AMB-173 that a user made stays', () => {
    expect(decideVolume(aVolume({ expires_at: at(-2 * day) }), undefined, now)).not.toHaveProperty('isOver');
  });
});

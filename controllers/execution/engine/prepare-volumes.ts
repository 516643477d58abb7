import type { Static } from 'typebox';
import { limits } from '../../../crds/limits.ts';
import type { SharedVolume, Workspace } from '../../../crds/schema/storage.ts';
import type { VolumeSpec } from '../../../crds/schema/volume.ts';
import { parseDuration } from '../../../lib/duration.ts';
import { ownMember } from '../../../lib/own-member.ts';
import type { Draft } from './draft.ts';
import type { Failure, VolumeFact } from './facts.ts';
import { volumeName } from './names.ts';
import { restOn } from './rest-on.ts';

/** Whether the volumes of an execution can be mounted. */
type VolumesState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'pending'; readonly message: string }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Asks for every volume that is lacking; they are all there before any state runs (spec 1 §2.6). */
export function volumesState(draft: Draft): VolumesState {
  const { volumes: facts, execution } = draft.facts;
  const wanted = wantedVolumes(draft);
  const [failure] = wanted.flatMap((volume) => failureOf(draft, volume));
  if (failure !== undefined) return { kind: 'failed', failure };
  const pending: Pending[] = [];
  for (const { name, spec, owned } of wanted) {
    const fact = ownMember(facts, name);
    if (fact === undefined && spec !== undefined) {
      draft.act({ kind: 'create_volume', name: volumeName(execution, name), declared: name, spec, owned });
    }
    if (fact?.phase !== 'ready') pending.push({ name, fact });
  }
  return pending.length === 0 ? { kind: 'ready' } : awaitVolumes(draft, pending);
}

interface Pending {
  readonly name: string;
  readonly fact: VolumeFact | undefined;
}

/** Volumes are awaited for as long as a step that waits for room (requirements AMB-190). */
function awaitVolumes(draft: Draft, pending: readonly Pending[]): VolumesState {
  const names = pending.map(({ name }) => name).join(', ');
  const endsAt = Date.parse(draft.status.started_at ?? draft.time) + queueTimeoutMs;
  if (draft.now >= endsAt) {
    for (const { name, fact } of pending) {
      restOn(draft, { of: 'volume', name: fact?.volume ?? volumeName(draft.facts.execution, name) });
    }
    const causes = pending.map(({ name, fact }) => `${name}: ${fact?.message ?? notMade(draft)}`);
    const message = `volumes ${names} were not ready within ${limits.queueTimeoutDefault}; ${causes.join('; ')}`;
    return { kind: 'failed', failure: { reason: 'NeverStarted', message } };
  }
  draft.wakeAt(endsAt);
  const refused = pending.filter(({ fact }) => fact?.isRefused === true);
  const causes = refused.map(({ name, fact }) => `; ${name}: ${fact?.message ?? ''}`);
  return { kind: 'pending', message: `waits for volumes ${names}${causes.join('')}` };
}

const notMade = ({ facts: { blocked } }: Draft): string => blocked?.message ?? 'no Volume was made';

const queueTimeoutMs = parseDuration(limits.queueTimeoutDefault, { field: 'queue_timeout' });

/** Why a volume can never be mounted, once the API server says so too. */
function failureOf(draft: Draft, { name, id }: WantedVolume): Failure[] {
  const fact = ownMember(draft.facts.volumes, name);
  if (fact === undefined) {
    if (id === undefined) return [];
    restOn(draft, { of: 'volume_of_uid', name: id });
    return [{ reason: 'VolumeNotFound', message: `volume ${name}: no Volume in this namespace has its volume_id` }];
  }
  if (fact.phase !== 'failed' && fact.phase !== 'expired') return [];
  restOn(draft, { of: 'volume', name: fact.volume });
  return fact.phase === 'failed'
    ? [{ reason: 'VolumeFailed', message: `volume ${name}: ${fact.message ?? ''}` }]
    : [{ reason: 'VolumeExpired', message: `volume ${name} has expired` }];
}

interface WantedVolume {
  readonly name: string;
  /** Uid of a volume that was made beforehand. */
  readonly id?: string;
  /** Absent: the volume was made beforehand. */
  readonly spec?: VolumeSpec;
  readonly owned: boolean;
}

function wantedVolumes(draft: Draft): WantedVolume[] {
  const { workspace, shared_volumes = [] } = draft.spec.storage ?? {};
  const startedAt = Date.parse(draft.status.started_at ?? draft.time);
  const made = (name: string, volume: Static<typeof Workspace>): WantedVolume => ({
    name,
    // One with a time of its own outlives the execution's object (requirements AMB-173).
    owned: volume.storage_class !== 'persistent' && volume.ttl_hours === undefined,
    spec: volumeSpec(volume, startedAt),
  });
  const all = workspace === undefined ? [] : [made('workspace', workspace)];
  for (const volume of shared_volumes) all.push(wantedShared(volume, made));
  return all;
}

function wantedShared(
  volume: Static<typeof SharedVolume>,
  made: (name: string, volume: Static<typeof Workspace>) => WantedVolume,
): WantedVolume {
  const { name, volume_id: id } = volume;
  return id === undefined ? made(name, volume) : { name, id, owned: false };
}

function volumeSpec(volume: Static<typeof Workspace>, startedAt: number): VolumeSpec {
  const { storage_class = 'ephemeral', ttl_hours, size_limit_mb } = volume;
  return {
    storage_class,
    ...(size_limit_mb === undefined ? {} : { size_limit_mb }),
    ...(ttl_hours === undefined ? {} : { expires_at: new Date(startedAt + ttl_hours * 3_600_000).toISOString() }),
  };
}

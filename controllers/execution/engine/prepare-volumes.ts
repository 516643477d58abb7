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
  const pending: Pending[] = [];
  for (const { name, spec, owned } of wantedVolumes(draft)) {
    const fact = ownMember(facts, name);
    const failure = failureOf(name, fact, spec);
    if (failure !== undefined) return { kind: 'failed', failure };
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

function failureOf(name: string, fact: VolumeFact | undefined, spec: VolumeSpec | undefined): Failure | undefined {
  if (fact === undefined && spec === undefined) {
    return { reason: 'VolumeNotFound', message: `volume ${name}: no Volume in this namespace has its volume_id` };
  }
  if (fact?.phase === 'failed') return { reason: 'VolumeFailed', message: `volume ${name}: ${fact.message ?? ''}` };
  if (fact?.phase === 'expired') return { reason: 'VolumeExpired', message: `volume ${name} has expired` };
  return undefined;
}

interface WantedVolume {
  readonly name: string;
  /** Absent: the volume was made beforehand and is named by its uid. */
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
  return volume.volume_id === undefined ? made(volume.name, volume) : { name: volume.name, owned: false };
}

function volumeSpec(volume: Static<typeof Workspace>, startedAt: number): VolumeSpec {
  const { storage_class = 'ephemeral', ttl_hours, size_limit_mb } = volume;
  return {
    storage_class,
    ...(size_limit_mb === undefined ? {} : { size_limit_mb }),
    ...(ttl_hours === undefined ? {} : { expires_at: new Date(startedAt + ttl_hours * 3_600_000).toISOString() }),
  };
}

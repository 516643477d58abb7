import type { SharedVolume, Workspace } from '../../crds/schema/storage.ts';
import type { VolumeSpec } from '../../crds/schema/volume.ts';
import type { Static } from 'typebox';
import type { Draft } from './draft.ts';
import { enter } from './enter.ts';
import type { Definition, Failure } from './facts.ts';
import { finish } from './finish.ts';
import { inputProblem } from './input.ts';
import { volumeName } from './names.ts';
import { own, ownLookup } from './own-workflow.ts';

/**
 * Brings the execution to its first state: pins the workflow, checks the input, makes the volumes, seeds the
 * Blackboard. True once the execution is in a state; false while it waits or has ended.
 */
export function begin(draft: Draft): boolean {
  const { status } = draft;
  const definition = own(draft.facts);
  if (definition === undefined) return hold(draft);
  if (status.current !== undefined) return true;
  const problem = inputProblem(definition.spec, draft.facts.execution.spec.input ?? {});
  if (problem !== undefined) return fail(draft, { reason: 'InputInvalid', message: problem });
  if (status.started_at === undefined) start(draft, definition);
  if (!volumesReady(draft)) return false;
  seed(draft);
  enter(draft, definition.spec.initial_state);
  return status.current !== undefined;
}

function start(draft: Draft, { name, namespace, uid, version, revision }: Definition): void {
  const { status } = draft;
  status.workflow = { name, namespace, uid, version, revision };
  status.started_at = draft.time;
  status.transitions = 0;
}

/** The workflow is not there or not accepted; a pinned one that went missing is no reason to fail a started run. */
function hold(draft: Draft): boolean {
  const lookup = ownLookup(draft.facts);
  if (lookup === undefined || lookup.kind === 'found') return false;
  if (lookup.kind === 'absent') return fail(draft, lookup.failure);
  draft.status.phase = 'pending';
  draft.status.reason = lookup.failure.reason;
  draft.status.message = lookup.failure.message;
  return false;
}

function fail(draft: Draft, failure: Failure): false {
  finish(draft, 'failed', failure);
  return false;
}

/** spec 1 §2.6: volumes are created before any state runs. */
function volumesReady(draft: Draft): boolean {
  const wanted = wantedVolumes(draft);
  const facts = draft.facts.volumes;
  for (const { name, spec, owned } of wanted) {
    if (facts[name] === undefined && spec !== undefined) {
      draft.act({ kind: 'create_volume', name: volumeName(draft.facts.execution, name), spec, owned });
    }
  }
  for (const { name, spec } of wanted) {
    const fact = facts[name];
    if (fact === undefined && spec === undefined) {
      return fail(draft, { reason: 'VolumeNotFound', message: `volume ${name}: no Volume has its volume_id here` });
    }
    if (fact?.phase === 'failed')
      return fail(draft, { reason: 'VolumeFailed', message: `volume ${name}: ${fact.message ?? ''}` });
    if (fact?.phase === 'expired')
      return fail(draft, { reason: 'VolumeExpired', message: `volume ${name} has expired` });
  }
  const waiting = wanted.filter(({ name }) => facts[name]?.phase !== 'ready').map(({ name }) => name);
  if (waiting.length === 0) return true;
  draft.status.phase = 'pending';
  draft.status.reason = 'VolumesPending';
  draft.status.message = `waits for volumes ${waiting.join(', ')}`;
  return false;
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
    owned: volume.storage_class !== 'persistent',
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

/** spec 1 §2.6: the Blackboard begins with `spec.context` and the pairs of the caller, who wins. */
function seed(draft: Draft): void {
  for (const [key, value] of Object.entries(draft.spec.context ?? {})) draft.write(key, value);
  for (const [key, value] of Object.entries(draft.facts.execution.spec.blackboard ?? {})) draft.write(key, value);
}

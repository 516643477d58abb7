import type { KeyValueBucket, KeyValueEntry } from '../../lib/bus/event-bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createWithinMs, type KeyReservation, standingOf } from './reservation.ts';

interface ReservationsDeps {
  readonly bucket: KeyValueBucket<KeyReservation>;
  readonly clock: Clock;
  /** The id of the execution that a stimulus started, asked of the API server; undefined where there is none. */
  readonly findExecution: (namespace: string, stimulusId: string) => Promise<string | undefined>;
}

/** A key that this submission alone holds until its lease ends. */
export interface Hold {
  readonly key: string;
  readonly stimulusId: string;
  readonly at: number;
  readonly revision: number;
}

/** Result of the reservation of a submission with a key. */
export type Acquired =
  | { readonly kind: 'held'; readonly hold: Hold }
  | { readonly kind: 'duplicate'; readonly originalStimulusId: string };

/** The submission that asks for a key. `stimulusId` counts where it is the first. */
interface Claim {
  readonly key: string;
  readonly namespace: string;
  readonly stimulusId: string;
  readonly signal?: AbortSignal;
}

/**
 * Makes sure that of all submissions with one key exactly one starts an execution, on any number of replicas and
 * whichever of them dies when. All calls throw AppError `unavailable` while the store is away.
 */
export interface Reservations {
  /** Whether the key is taken. Leaves nothing behind. */
  isTaken(key: string): Promise<boolean>;
  /** Throws `unavailable` as well while another replica works on the key: its outcome is not known yet. */
  acquire(claim: Claim): Promise<Acquired>;
  /** Keeps others from taking the key over while the execution is created. Throws `unavailable` if one has. */
  renew(hold: Hold): Promise<Hold>;
  /** The execution exists: from now on every other submission is a duplicate, even when the execution is deleted. */
  settle(hold: Hold, executionId: string): Promise<void>;
  /** Nothing was started and nothing will be: the key is free (requirements AMB-047). */
  release(hold: Hold): Promise<void>;
}

/** How long a second submission waits for the first one, and how often it looks. */
const patienceMs = 2_000;
const firstPauseMs = 10;
const longestPauseMs = 160;

export function createReservations(deps: ReservationsDeps): Reservations {
  const { bucket, clock } = deps;
  return {
    isTaken: async (key) => (await bucket.get(key)) !== undefined,
    acquire: (claim) => acquire(deps, claim),
    async renew(hold) {
      const now = clock.now();
      if (now - hold.at < createWithinMs) return hold;
      const renewed = await bucket.update(hold.key, reserved(hold.stimulusId, now), hold.revision);
      if (renewed === undefined) throw new ContestedKeyError(1_000);
      return { ...hold, at: now, revision: renewed };
    },
    async settle({ key, stimulusId, at, revision }, executionId) {
      const routed = { stimulus_id: stimulusId, state: 'routed', workflow_execution_id: executionId, at } as const;
      await bucket.update(key, routed, revision);
    },
    release: ({ key, revision }) => bucket.delete(key, revision),
  };
}

async function acquire(deps: ReservationsDeps, claim: Claim): Promise<Acquired> {
  const { bucket, clock } = deps;
  const { key, stimulusId, signal } = claim;
  const end = clock.steadyMs() + patienceMs;
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
    const at = clock.now();
    const revision = await bucket.create(key, reserved(stimulusId, at), claim.namespace);
    if (revision !== undefined) return { kind: 'held', hold: { key, stimulusId, at, revision } };
    const acquired = await look(deps, claim, clock.steadyMs() >= end);
    if (acquired !== undefined) return acquired;
    await clock.sleep(pause, signal);
    if (signal?.aborted) throw new AppError('cancelled', 'the sender is gone');
  }
}

/** The meaning of another submission's reservation; undefined: look again soon. */
async function look(deps: ReservationsDeps, claim: Claim, isLast: boolean): Promise<Acquired | undefined> {
  const entry = await deps.bucket.get(claim.key);
  if (entry === undefined) return undefined;
  const { stimulus_id: original } = entry.value;
  const standing = standingOf(entry.value, deps.clock.now());
  if (standing.kind === 'settled') return { kind: 'duplicate', originalStimulusId: original };
  if (standing.kind === 'held' && !isLast) return undefined;
  // The replica that reserved the key may have died between creating the execution and noting it.
  const executionId = await deps.findExecution(claim.namespace, original);
  if (executionId !== undefined) return settleFor(deps, claim, entry, executionId);
  if (standing.kind === 'held') throw new ContestedKeyError(standing.forMs);
  return takeOver(deps, claim, entry);
}

async function settleFor(
  { bucket }: ReservationsDeps,
  { key }: Claim,
  { value, revision }: KeyValueEntry<KeyReservation>,
  executionId: string,
): Promise<Acquired> {
  await bucket.update(key, { ...value, state: 'routed', workflow_execution_id: executionId }, revision);
  return { kind: 'duplicate', originalStimulusId: value.stimulus_id };
}

/** Continues under the id of the first stimulus, so that an execution that appears after all is the same one. */
async function takeOver(
  { bucket, clock }: ReservationsDeps,
  { key }: Claim,
  { value, revision }: KeyValueEntry<KeyReservation>,
): Promise<Acquired | undefined> {
  const at = clock.now();
  const taken = await bucket.update(key, reserved(value.stimulus_id, at), revision);
  if (taken === undefined) return undefined;
  return { kind: 'held', hold: { key, stimulusId: value.stimulus_id, at, revision: taken } };
}

const reserved = (stimulusId: string, at: number): KeyReservation => ({
  stimulus_id: stimulusId,
  state: 'reserved',
  at,
});

/** Another replica is at work on the key. */
export class ContestedKeyError extends AppError {
  override readonly name = 'ContestedKeyError';
  /** When the outcome is known at the latest. */
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('unavailable', 'another submission with this key is being worked on', { reason: 'KeyContested' });
    this.retryAfterMs = retryAfterMs;
  }
}

import { bucketKey, type EventBus, type KeyValueBucket, type KeyValueChange } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { createFairEntries } from './fair-entries.ts';

/** One generation of one object. */
interface Generation {
  readonly uid: string;
  readonly generation: number;
  /** The party whose share of keys it takes. */
  readonly tenant: string;
}

/** The right to announce one generation, which no other replica has for a minute. */
export interface AnnouncementClaim extends Generation {
  readonly revision: number;
  /** When an attempt before began, in milliseconds since the Unix epoch: its event may be stored. */
  readonly since?: number;
}

/** The generations that an event was stored of, over all replicas. Calls throw AppError `unavailable` without the bus. */
export interface AnnouncedGenerations {
  /** Whether nothing is to be done, as far as this replica has heard. */
  isKnown(generation: Generation): boolean;
  /** Undefined where the event is stored already, or is another replica's to store. */
  take(generation: Generation): Promise<AnnouncementClaim | undefined>;
  /** The event is stored. */
  announced(claim: AnnouncementClaim): Promise<void>;
  /** Follows what others announce, until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface ToldDeps {
  readonly bus: Pick<EventBus, 'bucket' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}

interface Entry {
  readonly uid: string;
  readonly generation: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly isTold: boolean;
  /** Absent: written by a version before. */
  readonly tenant?: string;
}

const day = 24 * 3_600_000;
const definition = { name: 'gateway_workflows_told', ttlMs: 90 * day, holds: 'announced tool workflows' };
/** An entry of a workflow that is still there is written again before it ends. */
const renewMs = 30 * day;
/** Entries that a replica keeps. The bus is asked about a workflow whose entry made room for those of others. */
const heardMax = 20_000;
/** A replica that has not announced it by then has ended; its attempt took a few seconds. */
const attemptMs = 60_000;

export function createAnnouncedGenerations({ bus, clock, logger }: ToldDeps): AnnouncedGenerations {
  const bucket = bus.bucket<Entry>(definition);
  const heard = createFairEntries<Entry>(heardMax);
  let isCurrent = false;
  const hear = (change: KeyValueChange<Entry>): void => {
    if (change.kind === 'begin') heard.clear();
    if (change.kind === 'current') isCurrent = true;
    if (change.kind === 'put') heard.set(change.value.tenant ?? '', change.name, change.value);
    if (change.kind === 'end') heard.delete(change.name);
  };
  return {
    isKnown({ uid, generation }) {
      const entry = heard.get(bucketKey(uid));
      return !isCurrent || (entry !== undefined && isSettled(entry, generation, clock.now()));
    },
    take: (generation) => take(bucket, generation, clock.now()),
    async announced({ uid, generation, tenant, revision }) {
      const entry = { uid, generation, at: clock.now(), isTold: true, tenant };
      if ((await bucket.update(uid, entry, revision)) !== undefined) heard.set(tenant, bucketKey(uid), entry);
    },
    async run(signal) {
      try {
        for await (const change of bus.watch<Entry>(definition, signal)) hear(change);
      } catch (error) {
        logger.warn({ problem: messageOf(error) }, 'registrations of tool workflows are not followed');
      }
    },
  };
}

function isSettled(entry: Entry, generation: number, now: number): boolean {
  if (entry.generation !== generation) return entry.generation > generation;
  return now - entry.at < (entry.isTold ? renewMs : attemptMs);
}

async function take(
  bucket: KeyValueBucket<Entry>,
  generation: Generation,
  now: number,
): Promise<AnnouncementClaim | undefined> {
  const { uid, tenant } = generation;
  const entry = { uid, generation: generation.generation, at: now, isTold: false, tenant };
  const found = await bucket.get(uid);
  if (found === undefined) {
    const made = await bucket.create(uid, entry, tenant);
    return made === undefined ? undefined : { ...generation, revision: made };
  }
  const { value, revision: before } = found;
  if (isSettled(value, generation.generation, now)) return undefined;
  const isAgain = value.generation === generation.generation;
  const revision = await bucket.update(uid, { ...entry, isTold: isAgain && value.isTold }, before);
  // One that was announced long ago is written again, and no more.
  if (revision === undefined || (isAgain && value.isTold)) return undefined;
  return { ...generation, revision, ...(isAgain ? { since: value.at - attemptMs } : {}) };
}

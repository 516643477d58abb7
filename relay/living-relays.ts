import type { EventBus, KeyValueBucket } from '../lib/bus/index.ts';
import type { Clock } from '../lib/clock.ts';
import { edgeBuckets, type HeldStream, type LivingRelay } from '../lib/edge/index.ts';
import { AppError } from '../lib/errors.ts';

interface LivingRelaysDeps {
  readonly clock: Pick<Clock, 'steadyMs'>;
  readonly bus: Pick<EventBus, 'bucket'>;
  readonly relayId: string;
}

/** A relay says every 5 s that it lives, and its word counts for 15 s: it has missed six of them by then. */
const relayMs = edgeBuckets.relays.ttlMs;
/** A relay looks once a minute for the entries of its streams, in a pass every 15 s (`Streams.renewEntries`). */
const entryMs = 90_000;

/** One pass over the hosts of other relays. */
interface Look {
  /** Whether no relay holds the stream of a host any more. `entry`: as the bus has it. */
  isGone(uid: string, entry: HeldStream | undefined): Promise<boolean>;
  /** Forgets those that the pass has not met. A pass that fails does not end: what it has met is kept all the same. */
  end(): void;
}

/**
 * The sign of life of this relay, and its judgement of others. A missing entry counts as gone after a time, and
 * where two looks have missed it. All of that time the store has taken this relay's own sign, and kept it: a bus that
 * was away, or has lost its store, takes the signs of relays that live.
 */
export class LivingRelays {
  readonly #deps: LivingRelaysDeps;
  readonly #bucket: KeyValueBucket<LivingRelay>;
  #saying: Promise<void> | undefined;
  /** Since when each own sign was stored, and was there at the next one. */
  #provenSince: number | undefined;
  /** Since when an entry is missing: by the id of a relay, or the uid of a host. */
  readonly #missing = new Map<string, number>();

  constructor(deps: LivingRelaysDeps) {
    this.#deps = deps;
    this.#bucket = deps.bus.bucket(edgeBuckets.relays);
  }

  /** Stores that this relay lives. Rejects where that was not stored. */
  say(): Promise<void> {
    this.#saying ??= this.#say().finally(() => (this.#saying = undefined));
    return this.#saying;
  }

  /** Begins a look, with a sign of life of its own. Rejects as that does. */
  async look(): Promise<Look> {
    await this.say();
    const met = new Set<string>();
    const known = new Map<string, Promise<boolean>>();
    const isDead = (relay: string): Promise<boolean> => {
      const found = known.get(relay) ?? this.#isDead(relay, met);
      known.set(relay, found);
      return found;
    };
    return {
      isGone: async (uid, entry) => {
        if (entry === undefined) return this.#isOver(uid, entryMs, met);
        this.#missing.delete(uid);
        // The stream ended, or its end could not be written.
        if (entry.relay === undefined || entry.relay === this.#deps.relayId) return true;
        return await isDead(entry.relay);
      },
      end: () => {
        for (const key of this.#missing.keys()) if (!met.has(key)) this.#missing.delete(key);
      },
    };
  }

  async #isDead(relay: string, met: Set<string>): Promise<boolean> {
    if ((await this.#bucket.get(relay)) === undefined) return this.#isOver(relay, relayMs, met);
    this.#missing.delete(relay);
    return false;
  }

  /** Notes that an entry is missing. True where it has been for so long. */
  #isOver(key: string, ms: number, met: Set<string>): boolean {
    const now = this.#deps.clock.steadyMs();
    const since = this.#missing.get(key);
    const isProven = since !== undefined && this.#provenSince !== undefined && since >= this.#provenSince;
    met.add(key);
    this.#missing.set(key, isProven ? since : now);
    return isProven && now - since >= ms;
  }

  async #say(): Promise<void> {
    try {
      const isKept = await this.#store();
      const now = this.#deps.clock.steadyMs();
      this.#provenSince = isKept ? (this.#provenSince ?? now) : now;
    } catch (error) {
      this.#provenSince = undefined;
      throw error;
    }
  }

  /** Whether the sign before was there. */
  async #store(): Promise<boolean> {
    const { relayId: relay } = this.#deps;
    const entry = await this.#bucket.get(relay);
    const stored =
      entry === undefined
        ? await this.#bucket.create(relay, { relay }, 'windlass')
        : await this.#bucket.update(relay, { relay }, entry.revision);
    if (stored === undefined) throw new AppError('unavailable', 'the sign of life ended while it was written');
    return entry !== undefined;
  }
}

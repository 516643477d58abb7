import type { EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { edgeBuckets, type HeldStream, type HostRequest, relayAddress } from '../../lib/edge/index.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import { holdEntry, renewAfterMs, renewEntry } from './held-entry.ts';
import type { LiveStream } from './live-stream.ts';

interface EntriesDeps {
  readonly clock: Clock;
  readonly bus: Pick<EventBus, 'bucket' | 'request' | 'problem'>;
  /** Names this process. */
  readonly relayId: string;
}

/**
 * Streams whose entries are written at once: a call of the bus has 1.5 s, and ten thousand daemons come back in seconds after the
 * restart of a relay.
 */
const writtenAtOnce = 128;

/** Entries in the bus that say which relay holds the stream of a host; their revisions are the epochs of streams. */
export class Entries {
  readonly #deps: EntriesDeps;
  readonly #onLost: (stream: LiveStream) => void;
  readonly #turns: FairPool;
  #sampledAt = 0;

  /** `onLost`: another stream holds the host by now. */
  constructor(deps: EntriesDeps, onLost: (stream: LiveStream) => void) {
    this.#deps = deps;
    this.#onLost = onLost;
    this.#turns = createFairPool({ size: writtenAtOnce, clock: deps.clock });
  }

  /**
   * Writes that this relay holds the stream; answers the entry before.
   * @throws AppError `unauthenticated` for a stream id that was used before; `unavailable` where the bus is away.
   */
  hold(stream: LiveStream): Promise<HeldStream | undefined> {
    return this.#turns.run({ tenant: stream.host.tenant }, () => holdEntry(this.#deps, stream));
  }

  /** Ends the stream that another relay held before; one that is gone holds none any more. */
  async endBefore(stream: LiveStream, before: HeldStream | undefined): Promise<void> {
    const { bus, relayId } = this.#deps;
    if (before?.relay === undefined || before.relay === relayId) return;
    const host = { tenant: stream.host.tenant, hostUid: stream.uid, nodeId: stream.facts.nodeId };
    const request: HostRequest = { kind: 'drop', host, epoch: stream.epoch, reason: replacedReason };
    await bus.request(relayAddress(before.relay), JSON.stringify(request), { timeoutMs: 2_000 }).catch(() => undefined);
  }

  /**
   * Whether a sender means this stream. An entry that is newer than we know is looked up: the answer to a write of ours may
   * have been lost. Throws AppError `unavailable` where the bus is away.
   */
  async isAt(stream: LiveStream, epoch: number): Promise<boolean> {
    if (await stream.isAt(epoch)) return true;
    if (epoch <= stream.epoch) return false;
    await this.renew(stream);
    return stream.isAt(epoch);
  }

  /** Writes the entry again. Throws AppError `unavailable` where the bus is away. */
  renew(stream: LiveStream): Promise<void> {
    const renewal = this.#renew(stream);
    stream.renewing = renewal.catch(() => undefined);
    return renewal;
  }

  /** Writes the entries again that are half of their time old, and those that the bus has lost; a bounded number at once. */
  async renewDue(open: Iterable<LiveStream>): Promise<void> {
    const now = this.#deps.clock.now();
    const streams = [...open];
    await this.#findLoss(streams, now);
    // A clock that was set back makes an entry look younger than it is.
    const isDue = ({ heldAt }: LiveStream): boolean => heldAt !== 0 && Math.abs(now - heldAt) >= renewAfterMs;
    let problem: unknown;
    for (const stream of streams.filter(isDue).slice(0, renewedAtOnce)) {
      try {
        await this.renew(stream);
      } catch (error) {
        if (this.#deps.bus.problem() !== undefined) throw error;
        // One that has no room must not keep the others behind it from theirs.
        problem ??= error;
      }
    }
    if (problem !== undefined) throw problem;
  }

  /** Writes that the stream is over. False where that is not known to be stored, or another stream holds the host. */
  async free(stream: LiveStream): Promise<boolean> {
    const { clock, bus } = this.#deps;
    const { uid, recent } = stream;
    await stream.renewing;
    const at = new Date(clock.now()).toISOString();
    const free = () => bus.bucket<HeldStream>(edgeBuckets.streams).update(uid, { uid, at, recent }, stream.epoch);
    const freed = await this.#turns.run({ tenant: stream.host.tenant }, free).catch(() => undefined);
    return freed !== undefined;
  }

  /** Whether some relay holds a stream of the host. */
  async isHeld(uid: string): Promise<boolean> {
    const now = await this.#deps.bus.bucket<HeldStream>(edgeBuckets.streams).get(uid);
    return now?.value.relay !== undefined;
  }

  /**
   * Looks at the entry that was written last: a store that was put back, or made anew, has lost this one at the least. All entries are
   * due then. One look a minute, and no write, where nothing is lost.
   */
  async #findLoss(streams: readonly LiveStream[], now: number): Promise<void> {
    if (Math.abs(now - this.#sampledAt) < sampleMs) return;
    const held = streams.filter(({ heldAt }) => heldAt !== 0);
    // Those that wait for their renewal say nothing of the store that the others are in by now.
    const kept = held.filter(({ heldAt }) => heldAt !== longAgo);
    const { uid, epoch } = kept.reduce((newest, one) => (one.epoch > newest.epoch ? one : newest), {
      uid: '',
      epoch: 0,
    });
    if (epoch === 0) return;
    const entry = await this.#deps.bus.bucket<HeldStream>(edgeBuckets.streams).get(uid);
    this.#sampledAt = now;
    if (entry !== undefined && entry.revision >= epoch) return;
    for (const stream of held) stream.heldAt = longAgo;
  }

  async #renew(stream: LiveStream): Promise<void> {
    if (!(await renewEntry(this.#deps, stream))) this.#onLost(stream);
  }
}

/** Reason of an order that ends a stream for a newer one. */
export const replacedReason = 'replaced';

/** How often a relay looks whether the bus has its entries. */
const sampleMs = 60_000;

/** Makes an entry due; 0 is that of a stream without one. */
const longAgo = 1;

/** Entries that one look writes again. */
const renewedAtOnce = 500;

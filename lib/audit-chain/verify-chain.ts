import type { KeyObject } from 'node:crypto';
import { type ChainedEvent, type ChainEnd, hashOf, isChainedEvent } from './chained-event.ts';
import { type Checkpoint, isCheckpoint, isSigned } from './checkpoint.ts';

/** A fault of a chain, and its place. */
export interface ChainProblem {
  readonly tenant?: string;
  readonly lane: string;
  readonly sequence: number;
  readonly kind:
    | 'unreadable'
    /** The event is not what was hashed, or its predecessor was replaced. */
    | 'changed'
    | 'missing'
    | 'out_of_order'
    /** A checkpoint vouches for more than there is. */
    | 'cut'
    /** A checkpoint vouches for another event at this place. */
    | 'replaced'
    /** Two checkpoints vouch for different events at this place: a holder of their keys has written two histories. */
    | 'contradicted'
    /** None of the given keys has the id that the checkpoint names. */
    | 'key_unknown'
    /** The key that the checkpoint names has not signed it as it is. */
    | 'checkpoint_forged';
  readonly message: string;
}

/** Result for one chain. */
interface ChainSummary {
  readonly tenant?: string;
  readonly lane: string;
  /** Above 1: the events before it are gone, and no chain tells whether age, a share or a deletion took them. */
  readonly first: number;
  readonly last: number;
  /** Time of the first event (RFC 3339). Nothing is proven of what was in the chain before, but for `gone`. */
  readonly since: string;
  /** Up to where a checkpoint vouches for it; 0: no checkpoint vouches for an event of these. */
  readonly vouched: number;
  /** The newest event before the first of which a checkpoint says that it was there. */
  readonly gone?: GoneEvent;
}

/** Place of an event that is not retained, and its time (RFC 3339), as a checkpoint signs them. */
interface GoneEvent {
  readonly sequence: number;
  readonly time: string;
}

/** A chain of which no event is retained, and its last one that a checkpoint vouches for. */
interface GoneChain extends GoneEvent {
  readonly tenant?: string;
  readonly lane: string;
}

export interface ChainReport {
  readonly events: number;
  readonly chains: readonly ChainSummary[];
  /** Chains that ended before the oldest message of the store. */
  readonly gone: readonly GoneChain[];
  /**
   * None: in no chain is an event from its first to its last missing, changed or swapped, or cut off before its newest
   * checkpoint.
   */
  readonly problems: readonly ChainProblem[];
}

export interface VerifyOptions {
  /** As they were read before the events; what is none of a known key is a problem. */
  readonly checkpoints: readonly unknown[];
  /** Public Ed25519 keys by id (`keyIdOf`). */
  readonly keys: ReadonlyMap<string, KeyObject>;
  /**
   * Time of the oldest message that the store retains (RFC 3339): a chain that ended before it may be gone. The message
   * may be of any chain, so that this proves nothing for another one.
   */
  readonly retainedFrom?: string;
}

/** Takes events in the order of the store, and keeps one end a chain: any number of events can be verified. */
export interface ChainVerifier {
  add(event: unknown): void;
  report(): ChainReport;
}

/** Problems of one kind that are listed; a store that is broken throughout needs no more of them. */
const problemsMax = 1_000;

/** Verifies chains without any I/O (ADR 0063). */
export function createChainVerifier(options: VerifyOptions): ChainVerifier {
  return new Verifier(options);
}

/** Verifies a list of events, in the order of the store. Pure. */
export function verify(events: Iterable<unknown>, options: VerifyOptions): ChainReport {
  const verifier = createChainVerifier(options);
  for (const event of events) verifier.add(event);
  return verifier.report();
}

interface Seen {
  readonly tenant: string | undefined;
  readonly lane: string;
  readonly first: ChainEnd;
  last: ChainEnd;
}

type Place = Pick<Checkpoint, 'tenant' | 'lane' | 'sequence'>;

class Verifier implements ChainVerifier {
  readonly #options: VerifyOptions;
  readonly #problems: ChainProblem[] = [];
  readonly #seen = new Map<string, Seen>();
  /** For each chain, the hashes that checkpoints sign, by sequence. */
  readonly #vouched = new Map<string, Map<number, Checkpoint>>();
  #events = 0;

  constructor(options: VerifyOptions) {
    this.#options = options;
    for (const checkpoint of options.checkpoints) this.#trust(checkpoint);
  }

  add(event: unknown): void {
    this.#events += 1;
    if (!isChainedEvent(event)) {
      this.#blame({ lane: '', sequence: 0 }, 'unreadable', `event ${this.#events} of the list is no event of a chain`);
      return;
    }
    const key = keyOf(event);
    if (hashOf(event) !== event.hash) this.#blame(event, 'changed', 'the event is not what was hashed');
    const seen = this.#seen.get(key);
    if (seen === undefined) {
      const { tenant, lane } = event;
      this.#seen.set(key, { tenant, lane, first: event, last: event });
      this.#begin(key, event);
    } else {
      this.#follow(seen, event);
    }
    const checkpoint = this.#vouched.get(key)?.get(event.sequence);
    if (checkpoint !== undefined && checkpoint.hash !== event.hash)
      this.#blame(event, 'replaced', 'a checkpoint vouches for another event');
  }

  report(): ChainReport {
    const gone = [...this.#vouched].flatMap(([key, checkpoints]) => this.#checkEnd(key, checkpoints) ?? []);
    const chains = [...this.#seen].map(([key, seen]) => summaryOf(seen, this.#vouched.get(key)));
    return { events: this.#events, chains, gone, problems: this.#problems };
  }

  /** The first event of a chain follows the one that a checkpoint says was before it. */
  #begin(key: string, event: ChainedEvent): void {
    if (event.sequence === 1) {
      if (!/^0+$/.test(event.previous)) this.#blame(event, 'changed', 'the first event follows one');
      return;
    }
    const before = this.#vouched.get(key)?.get(event.sequence - 1);
    if (before !== undefined && before.hash !== event.previous)
      this.#blame(event, 'replaced', 'a checkpoint vouches for another event before it');
  }

  #follow(seen: Seen, event: ChainedEvent): void {
    const want = seen.last.sequence + 1;
    if (event.sequence < want) {
      this.#blame(event, 'out_of_order', `event ${event.sequence} comes after event ${seen.last.sequence}`);
      return;
    }
    if (event.sequence > want) {
      const gap = event.sequence === want + 1 ? `event ${want} is` : `events ${want} to ${event.sequence - 1} are`;
      this.#blame({ ...event, sequence: want }, 'missing', `${gap} missing`);
    } else if (event.previous !== seen.last.hash) {
      this.#blame(event, 'changed', 'the event does not follow the one before it');
    }
    seen.last = event;
  }

  #trust(checkpoint: unknown): void {
    if (!isCheckpoint(checkpoint)) {
      this.#blame({ lane: '', sequence: 0 }, 'unreadable', 'a checkpoint cannot be read');
      return;
    }
    const { keys } = this.#options;
    const { key_id: keyId } = checkpoint;
    if (!keys.has(keyId)) {
      const message = `the checkpoint names the key ${JSON.stringify(keyId)}; give its public half too`;
      this.#blame(checkpoint, 'key_unknown', message);
      return;
    }
    if (!isSigned(checkpoint, keys)) {
      this.#blame(checkpoint, 'checkpoint_forged', `the key ${keyId} has not signed the checkpoint as it is`);
      return;
    }
    const key = keyOf(checkpoint);
    const known = this.#vouched.get(key) ?? new Map<number, Checkpoint>();
    const other = known.get(checkpoint.sequence);
    if (other !== undefined && other.hash !== checkpoint.hash) {
      const message = `two checkpoints, of the keys ${other.key_id} and ${keyId}, vouch for different events at this place`;
      this.#blame(checkpoint, 'contradicted', message);
      return;
    }
    this.#vouched.set(key, known.set(checkpoint.sequence, checkpoint));
  }

  /** The chain, where age may have taken the whole of it: its end is older than the oldest that is retained. */
  #checkEnd(key: string, checkpoints: ReadonlyMap<number, Checkpoint>): GoneChain | undefined {
    const end = newest(checkpoints);
    if (end === undefined) return undefined;
    const has = this.#seen.get(key)?.last.sequence ?? 0;
    if (has >= end.sequence) return undefined;
    const { retainedFrom } = this.#options;
    if (has === 0 && retainedFrom !== undefined && Date.parse(end.time) < Date.parse(retainedFrom)) {
      const { tenant, lane, sequence, time } = end;
      return { ...(tenant === undefined ? {} : { tenant }), lane, sequence, time };
    }
    const message = `the chain ends at ${has}, and a checkpoint vouches for ${end.sequence}`;
    this.#blame({ ...end, sequence: has + 1 }, 'cut', message);
    return undefined;
  }

  #blame({ tenant, lane, sequence }: Place, kind: ChainProblem['kind'], message: string): void {
    if (this.#problems.length >= problemsMax) return;
    this.#problems.push({ ...(tenant === undefined ? {} : { tenant }), lane, sequence, kind, message });
  }
}

/** A tenant is no JSON, so no two chains share a key. */
const keyOf = ({ tenant, lane }: Pick<Place, 'tenant' | 'lane'>): string => JSON.stringify([tenant ?? null, lane]);

function summaryOf(
  { tenant, lane, first, last }: Seen,
  checkpoints: ReadonlyMap<number, Checkpoint> | undefined,
): ChainSummary {
  const end = newest(checkpoints)?.sequence ?? 0;
  const gone = newest(checkpoints, first.sequence);
  return {
    ...(tenant === undefined ? {} : { tenant }),
    lane,
    first: first.sequence,
    last: last.sequence,
    since: first.time,
    vouched: end < first.sequence ? 0 : end,
    ...(gone === undefined ? {} : { gone: { sequence: gone.sequence, time: gone.time } }),
  };
}

/** The newest of them before a place of the chain. */
function newest(
  checkpoints: ReadonlyMap<number, Checkpoint> | undefined,
  before = Number.POSITIVE_INFINITY,
): Checkpoint | undefined {
  let found: Checkpoint | undefined;
  for (const checkpoint of checkpoints?.values() ?? [])
    if (checkpoint.sequence < before && checkpoint.sequence > (found?.sequence ?? 0)) found = checkpoint;
  return found;
}

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
    /** None of the given keys has the id that the checkpoint names. */
    | 'key_unknown'
    /** The key that the checkpoint names has not signed it as it is. */
    | 'checkpoint_forged';
  readonly message: string;
}

/** Result for one chain. */
export interface ChainSummary {
  readonly tenant?: string;
  readonly lane: string;
  readonly first: number;
  readonly last: number;
  /** Up to where a checkpoint vouches for it; 0: no checkpoint does. */
  readonly vouched: number;
}

export interface ChainReport {
  readonly events: number;
  readonly chains: readonly ChainSummary[];
  /** None: no event since the oldest retained is missing, changed, swapped, or cut off before the newest checkpoint. */
  readonly problems: readonly ChainProblem[];
}

export interface VerifyOptions {
  /** As they were read before the events; what is none of a known key is a problem. */
  readonly checkpoints: readonly unknown[];
  /** Public Ed25519 keys by id (`keyIdOf`). */
  readonly keys: ReadonlyMap<string, KeyObject>;
  /** Time of the oldest message that the store retains (RFC 3339): a chain that ended before it may be gone. */
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
  readonly first: number;
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
      const { tenant, lane, sequence } = event;
      this.#seen.set(key, { tenant, lane, first: sequence, last: event });
      if (sequence === 1 && !/^0+$/.test(event.previous)) this.#blame(event, 'changed', 'the first event follows one');
    } else {
      this.#follow(seen, event);
    }
    const checkpoint = this.#vouched.get(key)?.get(event.sequence);
    if (checkpoint !== undefined && checkpoint.hash !== event.hash)
      this.#blame(event, 'replaced', 'a checkpoint vouches for another event');
  }

  report(): ChainReport {
    for (const [key, checkpoints] of this.#vouched) this.#checkEnd(key, checkpoints);
    const chains = [...this.#seen].map(([key, { tenant, lane, first, last }]) => ({
      ...(tenant === undefined ? {} : { tenant }),
      lane,
      first,
      last: last.sequence,
      vouched: newest(this.#vouched.get(key))?.sequence ?? 0,
    }));
    return { events: this.#events, chains, problems: this.#problems };
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
    this.#vouched.set(key, known.set(checkpoint.sequence, checkpoint));
  }

  #checkEnd(key: string, checkpoints: ReadonlyMap<number, Checkpoint>): void {
    const end = newest(checkpoints);
    if (end === undefined) return;
    const has = this.#seen.get(key)?.last.sequence ?? 0;
    const { retainedFrom } = this.#options;
    // Age has taken the whole chain: its end is older than the oldest that is retained.
    const isGone = has === 0 && retainedFrom !== undefined && Date.parse(end.time) < Date.parse(retainedFrom);
    if (has >= end.sequence || isGone) return;
    const message = `the chain ends at ${has}, and a checkpoint vouches for ${end.sequence}`;
    this.#blame({ ...end, sequence: has + 1 }, 'cut', message);
  }

  #blame({ tenant, lane, sequence }: Place, kind: ChainProblem['kind'], message: string): void {
    if (this.#problems.length >= problemsMax) return;
    this.#problems.push({ ...(tenant === undefined ? {} : { tenant }), lane, sequence, kind, message });
  }
}

/** A tenant is no JSON, so no two chains share a key. */
const keyOf = ({ tenant, lane }: Pick<Place, 'tenant' | 'lane'>): string => JSON.stringify([tenant ?? null, lane]);

function newest(checkpoints: ReadonlyMap<number, Checkpoint> | undefined): Checkpoint | undefined {
  let found: Checkpoint | undefined;
  for (const checkpoint of checkpoints?.values() ?? [])
    if (found === undefined || checkpoint.sequence > found.sequence) found = checkpoint;
  return found;
}

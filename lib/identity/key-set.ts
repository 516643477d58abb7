import { createLocalJWKSet, type CryptoKey, errors, type JSONWebKeySet, type JWSHeaderParameters } from 'jose';
import type { Clock } from '../clock.ts';
import { AppError, messageOf } from '../errors.ts';
import { exponential } from '../backoff.ts';
import type { Logger } from '../logger.ts';
import { createPacedTask, type PacedTask } from '../paced-task.ts';
import { createUnknownIds } from '../unknown-ids.ts';
import { identityLimits } from './limits.ts';

interface KeySetDeps {
  /** Fetches the keys; throws when that fails. */
  readonly load: () => Promise<JSONWebKeySet>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface KeySetOptions {
  /** For how long fetched keys are taken as they are. */
  readonly ttlMs: number;
  /** For how long beyond that they still serve while the provider does not answer. */
  readonly graceMs: number;
}

/**
 * The signing keys of a provider. They are fetched when first needed, again before the TTL ends, and at once for a key
 * that is not among them (spec 3 §5.1). All who wait share one fetch, and none begins within a second of another.
 */
export interface KeySet {
  /** Changes whenever the keys do. @throws AppError `unavailable` when there are no keys to go by. */
  version(): Promise<number>;
  /**
   * Undefined where the provider has no such key. `refuted` was found before and is not the one, which only the signature
   * of a token that names no key can tell. @throws AppError `unavailable` when that cannot be found out.
   */
  find(header: JWSHeaderParameters, refuted?: CryptoKey): Promise<CryptoKey | undefined>;
}

export function createKeySet(deps: KeySetDeps, options: KeySetOptions): KeySet {
  return new CachedKeySet(deps, options);
}

/** Keys as they were fetched. */
interface Held {
  readonly text: string;
  readonly kids: ReadonlySet<string>;
  readonly select: ReturnType<typeof createLocalJWKSet>;
  readonly version: number;
  readonly fetchedAt: number;
}

/** From this part of the TTL on a request starts a fetch in the background. */
const refetchFrom = 0.8;

/** A fetch begins no sooner than this long after the one before began. */
const untilNextFetch = (tookMs: number): number => identityLimits.fetchIntervalMs - tookMs;

/** The entry of all tokens without a key id among the ids that were asked for in vain. */
const unnamed = '';

/** Remembers which key ids the provider was asked for in vain, so that one that is made up costs one fetch and no more. */
interface UnknownKeys {
  /** Whether the provider said a short while ago that it has no such key. */
  has(kid: string): boolean;
  /** The next fetch is to settle this one. */
  ask(kid: string): void;
  /**
   * A fetch begins. The returned function takes the keys that came and settles every id asked for before the beginning.
   */
  begin(): (known: ReadonlySet<string>) => void;
}

function createUnknownKeys(clock: Clock): UnknownKeys {
  const { unknownKeys: capacity, unknownKeyMs: lifeMs } = identityLimits;
  const refused = createUnknownIds(clock, { capacity, lifeMs });
  let asked = new Set<string>();
  return {
    has: (kid) => refused.has(kid),
    ask(kid) {
      if (asked.size < capacity) asked.add(kid);
    },
    begin() {
      const settled = asked;
      asked = new Set();
      return (known) => {
        for (const kid of settled) if (!known.has(kid)) refused.add(kid);
      };
    },
  };
}

class CachedKeySet implements KeySet {
  readonly #deps: KeySetDeps;
  readonly #options: KeySetOptions;
  readonly #fetches: PacedTask;
  readonly #unknown;
  #held: Held | undefined;
  #failures = 0;
  #retryAt = 0;
  /** The fetch under way has taken longer than requests wait. */
  #isOverdue = false;
  /** How to turn away each request that waits for a key. */
  readonly #patient = new Set<() => void>();

  constructor(deps: KeySetDeps, options: KeySetOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#fetches = createPacedTask(deps.clock, untilNextFetch, () => this.#fetch());
    this.#unknown = createUnknownKeys(deps.clock);
  }

  async version(): Promise<number> {
    return (await this.#fresh()).version;
  }

  async find(header: JWSHeaderParameters, refuted?: CryptoKey): Promise<CryptoKey | undefined> {
    const held = await this.#fresh();
    const { kid } = header;
    if (kid === undefined) return this.#findUnnamed(held, header, refuted);
    if (held.kids.has(kid)) return this.#select(held, header);
    if (typeof kid !== 'string' || kid.length > identityLimits.keyIdLength) return undefined;
    const renewed = await this.#renewed(kid, ({ kids }) => kids.has(kid));
    return renewed === undefined ? undefined : this.#select(renewed, header);
  }

  /** A token may leave the key out where the provider has only one that fits. Which one that is may have changed. */
  async #findUnnamed(held: Held, header: JWSHeaderParameters, refuted?: CryptoKey): Promise<CryptoKey | undefined> {
    const key = await this.#select(held, header);
    if (key !== undefined && key !== refuted) return key;
    const renewed = await this.#renewed(unnamed, ({ version }) => version !== held.version);
    return renewed === undefined ? undefined : this.#select(renewed, header);
  }

  /** Keys within their TTL, or older ones that the grace allows. */
  async #fresh(): Promise<Held> {
    const age = this.#age();
    if (age >= this.#options.ttlMs * refetchFrom && this.#mayFetch()) {
      const fetched = this.#fetches.join();
      // Once a fetch has failed, requests no longer wait for the next one while older keys will do.
      const willDo = age < this.#options.ttlMs || (this.#failures > 0 && this.#isGraceOpen());
      if (!willDo) await fetched;
    }
    if (this.#held === undefined || !this.#isGraceOpen()) throw unavailable();
    return this.#held;
  }

  /**
   * The keys once they will do, after asking the provider for `kid`; undefined when it does not have it. A fetch that
   * takes longer than a second continues without its waiting callers.
   */
  async #renewed(kid: string, willDo: (held: Held) => boolean): Promise<Held | undefined> {
    if (this.#unknown.has(kid)) return undefined;
    if (!this.#mayFetch()) throw unavailable();
    if (this.#isOverdue) throw unavailable();
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(unavailable());
      this.#patient.add(giveUp);
      const done = (): void => void this.#patient.delete(giveUp);
      this.#asked(kid, willDo).then(resolve, reject).finally(done);
    });
  }

  async #asked(kid: string, willDo: (held: Held) => boolean): Promise<Held | undefined> {
    this.#unknown.ask(kid);
    if (this.#fetches.running !== undefined) {
      // It began before this token came, so its answer counts only where it holds the key.
      await this.#fetches.running;
      if (this.#held && willDo(this.#held)) return this.#held;
      if (this.#unknown.has(kid)) return undefined;
    }
    await this.#fetches.next();
    if (this.#held && willDo(this.#held)) return this.#held;
    if (this.#failures > 0) throw unavailable();
    return undefined;
  }

  async #fetch(): Promise<void> {
    const { load, logger, clock } = this.#deps;
    const settle = this.#unknown.begin();
    const ended = new AbortController();
    void clock.sleep(identityLimits.keyWaitMs, ended.signal).then(() => ended.signal.aborted || this.#giveUp());
    try {
      this.#keep(await load());
      this.#failures = 0;
      this.#retryAt = 0;
      settle(this.#held?.kids ?? new Set());
    } catch (error) {
      const pause = { baseMs: identityLimits.fetchIntervalMs, maxMs: identityLimits.fetchPauseMs };
      this.#retryAt = clock.steadyMs() + exponential(pause, this.#failures);
      this.#failures += 1;
      logger.warn({ reason: causeOf(error), failures: this.#failures }, 'signing keys could not be fetched');
    } finally {
      ended.abort();
      this.#isOverdue = false;
    }
  }

  /** Those who wait try again later; what was fetched by then serves them. */
  #giveUp(): void {
    this.#isOverdue = true;
    for (const giveUp of this.#patient) giveUp();
    this.#patient.clear();
  }

  #keep({ keys }: JSONWebKeySet): void {
    const text = JSON.stringify(keys);
    const fetchedAt = this.#deps.clock.steadyMs();
    if (this.#held?.text === text) {
      this.#held = { ...this.#held, fetchedAt };
      return;
    }
    const kids = new Set(keys.flatMap(({ kid }) => (typeof kid === 'string' ? [kid] : [])));
    const version = (this.#held?.version ?? 0) + 1;
    this.#held = { text, kids, select: createLocalJWKSet({ keys }), version, fetchedAt };
    this.#deps.logger.info({ keys: keys.length, version }, 'signing keys fetched');
  }

  /** A key that cannot be used is as good as none. */
  async #select(held: Held, header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    try {
      return await held.select(header);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)) {
        this.#deps.logger.warn({ kid: header.kid, reason: messageOf(error) }, 'signing key cannot be used');
      }
      return undefined;
    }
  }

  #age(): number {
    return this.#held === undefined ? Number.POSITIVE_INFINITY : this.#deps.clock.steadyMs() - this.#held.fetchedAt;
  }

  #isGraceOpen(): boolean {
    return this.#age() < this.#options.ttlMs + this.#options.graceMs;
  }

  #mayFetch(): boolean {
    return this.#deps.clock.steadyMs() >= this.#retryAt;
  }
}

/** The innermost message: `connect ECONNREFUSED` says more than that a fetch failed. */
function causeOf(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  return messageOf(inner);
}

function unavailable(): AppError {
  return new AppError('unavailable', 'the identity provider does not answer', { reason: 'ProviderFailed' });
}

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock.ts';
import { AppError, messageOf } from '../../errors.ts';
import { mayHold } from '../../fair-pool.ts';
import type { Logger } from '../../logger.ts';
import { isNo, isStreamGone } from '../bus-error.ts';
import { type BucketDefinition, heldIn, insteadOf } from './bucket-definition.ts';
import { endsUntilRoom, type KeyRoom, mostOf } from './key-room.ts';
import { ShareUsedError } from './share-used-error.ts';

/** Keys per stored block: an account costs one small write for so many keys. */
const keysInBlock = 64;

/** Measured size of a stored key: its subject, a reservation, and what the server writes beside them. */
export const keyBytes = 300;

/** How long the keys of a block may be taken. A block outlives its bucket's keys by as much. */
export const blockUseMs = 10 * 60_000;

/** How long a refusal is repeated without asking the store again. */
const refusalMs = 1_000;

/** Blocks that are added at once; the rest of a burst takes more of them afterwards. */
const blocksAtOnce = 32;

/** Tenants whose last block is remembered. One that is forgotten takes a new block. */
const tenantsMax = 10_000;

/** The blocks of all replicas. Each ends `blockUseMs` after the keys that were taken of it. */
export interface AccountStore {
  /** Blocks of all tenants, and those of one. */
  count(tenant: string): Promise<{ readonly all: number; readonly own: number }>;
  /** Milliseconds until so many blocks of a tenant have ended, the oldest first. */
  untilEnded(tenant: string, blocks: number): Promise<number>;
  add(tenant: string): Promise<void>;
}

/** How many keys of a bucket each tenant takes in the time that a key lives, on all replicas together. */
export interface KeyAccounts {
  /** Takes keys, one by default, where that needs no call. */
  tryTake(tenant: string, keys?: number): boolean;
  /**
   * Takes keys, one by default. Throws ShareUsedError where the tenant has its share, and AppError `unavailable` where a tenant without
   * any key finds no room. An account that the server
   * does not let us keep refuses no caller.
   */
  take(tenant: string, keys?: number): Promise<void>;
  /** Whether a tenant may take so many keys now, which takes none. */
  roomFor(tenant: string, keys: number): Promise<KeyRoom>;
  /** The keys were taken in vain: what they are for exists already. */
  giveBack(tenant: string, keys?: number): void;
}

interface KeyAccountsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: AccountStore;
  readonly definition: BucketDefinition;
}

/** `keysMax`: keys of all tenants. One tenant has four fifths of them at most, and no more than `mayHold` says. */
export function createKeyAccounts(deps: KeyAccountsDeps, keysMax: number): KeyAccounts {
  return new BlockAccounts(deps, Math.max(1, Math.floor(keysMax / keysInBlock)));
}

/** Accounts of a bucket that cannot keep any. */
export const noAccounts: KeyAccounts = {
  tryTake: () => true,
  take: async () => undefined,
  roomFor: async (_, keys) => ({ used: 0, room: keys, untilRoomMs: 0, most: Number.POSITIVE_INFINITY }),
  giveBack: () => undefined,
};

interface Account {
  /** Keys that are left of the blocks that this replica has taken, and until when they may be taken. */
  left: number;
  until: number;
  waiting: number;
  refusal?: { readonly error: AppError; readonly until: number };
  refill?: Promise<void>;
}

class BlockAccounts implements KeyAccounts {
  readonly #deps: KeyAccountsDeps;
  readonly #blocksMax: number;
  readonly #accounts = new LRUCache<string, Account>({ max: tenantsMax });
  #hasFailed = false;

  constructor(deps: KeyAccountsDeps, blocksMax: number) {
    this.#deps = deps;
    this.#blocksMax = blocksMax;
  }

  tryTake(tenant: string, keys = 1): boolean {
    const account = this.#accountOf(tenant);
    if (account.left < keys || this.#deps.clock.steadyMs() >= account.until) return false;
    account.left -= keys;
    return true;
  }

  async take(tenant: string, keys = 1): Promise<void> {
    const account = this.#accountOf(tenant);
    account.waiting += keys;
    try {
      while (!this.tryTake(tenant, keys)) {
        if (account.refusal !== undefined && this.#deps.clock.steadyMs() < account.refusal.until)
          throw account.refusal.error;
        account.refill ??= this.#refill(tenant, account).finally(() => delete account.refill);
        await account.refill;
      }
    } finally {
      account.waiting -= keys;
    }
  }

  async roomFor(tenant: string, keys: number): Promise<KeyRoom> {
    const { clock, store } = this.#deps;
    const { left, until } = this.#accountOf(tenant);
    const { all, own } = await store.count(tenant);
    const held = { own, free: this.#blocksMax - all };
    const taken = clock.steadyMs() < until ? left : 0;
    const wanted = Math.max(0, Math.ceil((keys - taken) / keysInBlock));
    const room = Math.min(keys, taken + mostOf(held, wanted) * keysInBlock);
    const ends = endsUntilRoom(held, wanted);
    const untilRoomMs = ends === undefined || ends === 0 ? ends : await store.untilEnded(tenant, ends);
    const most = mostOf({ own: 0, free: this.#blocksMax }, this.#blocksMax) * keysInBlock;
    return { used: own * keysInBlock - taken, room, untilRoomMs, most };
  }

  giveBack(tenant: string, keys = 1): void {
    this.#accountOf(tenant).left += keys;
  }

  #accountOf(tenant: string): Account {
    const known = this.#accounts.get(tenant);
    if (known !== undefined) return known;
    const account = { left: 0, until: 0, waiting: 0 };
    this.#accounts.set(tenant, account);
    return account;
  }

  async #refill(tenant: string, account: Account): Promise<void> {
    const { clock, store } = this.#deps;
    const now = clock.steadyMs();
    if (now >= account.until) account.left = 0;
    account.until = now + blockUseMs;
    try {
      const { all, own } = await store.count(tenant);
      const blocks = blocksFor(account.waiting, own, this.#blocksMax - all);
      if (blocks === 0) return await this.#refuse(tenant, account, own);
      await Promise.all(Array.from({ length: blocks }, () => store.add(tenant)));
      account.left += blocks * keysInBlock;
    } catch (error) {
      if (isStreamGone(error) || !isNo(error)) throw error;
      this.#tellFailure(error);
      account.left += keysInBlock;
    }
  }

  async #refuse(tenant: string, account: Account, own: number): Promise<never> {
    const { clock, definition } = this.#deps;
    const error = own === 0 ? full(definition) : new ShareUsedError(definition, await this.#shareOf(tenant, own));
    account.refusal = { error, until: clock.steadyMs() + refusalMs };
    throw error;
  }

  async #shareOf(tenant: string, own: number) {
    const { clock, store } = this.#deps;
    const retryAfterMs = await store.untilEnded(tenant, 1);
    return { used: own * keysInBlock, retryAfterMs, now: clock.now(), setting };
  }

  #tellFailure(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#deps.logger.warn({ problem: messageOf(error) }, 'keys are not counted');
  }
}

/** Pure: as many blocks as those who wait need, or as the tenant may have. */
function blocksFor(keys: number, own: number, free: number): number {
  let blocks = Math.min(Math.ceil(keys / keysInBlock), blocksAtOnce);
  while (blocks > 0 && !mayHold(own, free, blocks)) blocks -= 1;
  return blocks;
}

/** The value of the chart that bounds the keys of a bucket. */
const setting = 'nats.keys.maxMb';

const full = (definition: BucketDefinition): AppError =>
  new AppError(
    'unavailable',
    `all tenants together have too many ${heldIn(definition)} (${setting}); ${insteadOf(definition)}try again later`,
    { reason: 'BucketFull' },
  );

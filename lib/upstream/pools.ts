import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import { AppError } from '../errors.ts';
import { createFairPool, type FairPool } from '../fair-pool.ts';
import { type AddressPolicy, createAddressPolicy } from '../tools/web/address-policy.ts';
import { createVettedLookup } from '../tools/web/vetted-agent.ts';
import { upstreamLimits } from './limits.ts';
import type { UpstreamDeps } from './upstream.ts';

/** Connections to one origin for one tenant, with the policy that every one of them was vetted by. */
interface UpstreamPool {
  readonly dispatcher: Pool;
  /** One for each connection. Each entry is a tenant of its own: none has a share of them. */
  readonly turns: FairPool;
  readonly isPermitted: AddressPolicy;
}

export interface PoolKey {
  readonly tenant: string;
  readonly origin: string;
  readonly allowedNetworks: readonly string[];
}

/**
 * Pools by tenant and origin; those used last are kept. A pool that has to give way, or is idle, takes nothing more and
 * ends with its last request. Nothing is shared between tenants, and other networks mean another pool.
 */
export class UpstreamPools {
  readonly #deps: UpstreamDeps;
  readonly #pools: LRUCache<string, UpstreamPool>;
  /** Keys of each tenant, the one used longest ago first. */
  readonly #keys = new Map<string, Set<string>>();

  constructor(deps: UpstreamDeps) {
    this.#deps = deps;
    this.#pools = new LRUCache({
      max: upstreamLimits.pools,
      ttl: upstreamLimits.poolIdleMs,
      updateAgeOnGet: true,
      dispose: ({ dispatcher }, key) => {
        this.#forget(key);
        // Requests that it has taken are answered; the connections close after them.
        dispatcher.close().catch(() => undefined);
      },
    });
  }

  get size(): number {
    return this.#pools.size;
  }

  /** @throws AppError `invalid` for a network that is none. */
  get(wanted: PoolKey): UpstreamPool {
    const key = JSON.stringify([wanted.tenant, wanted.origin, ...wanted.allowedNetworks]);
    const keys = this.#keysOf(wanted.tenant);
    const known = this.#pools.get(key);
    keys.delete(key);
    if (known === undefined) this.#makeRoom(keys);
    const pool = known ?? this.#open(wanted);
    keys.add(key);
    this.#keys.set(wanted.tenant, keys);
    if (known === undefined) this.#pools.set(key, pool);
    return pool;
  }

  /** Closes pools that were idle for too long. */
  sweep(): void {
    this.#pools.purgeStale();
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(({ dispatcher }) => dispatcher.destroy()));
  }

  #keysOf(tenant: string): Set<string> {
    return this.#keys.get(tenant) ?? new Set();
  }

  #makeRoom(keys: ReadonlySet<string>): void {
    const [oldest] = keys;
    if (keys.size >= upstreamLimits.poolsPerTenant && oldest !== undefined) this.#pools.delete(oldest);
  }

  #forget(key: string): void {
    const [tenant = ''] = JSON.parse(key) as string[];
    const keys = this.#keys.get(tenant);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(tenant);
  }

  #open({ origin, allowedNetworks }: PoolKey): UpstreamPool {
    const isPermitted = policyOf(allowedNetworks);
    const { clock, resolve } = this.#deps;
    const lookup = createVettedLookup({ isPermitted, resolve });
    const { connections, connectMs: timeout, keepAliveMs, headerBytes: maxHeaderSize } = upstreamLimits;
    const turns = createFairPool({ size: connections, waitMs: upstreamLimits.connectionWaitMs, clock });
    const dispatcher = new Pool(origin, {
      connections,
      connect: { lookup, timeout },
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      maxHeaderSize,
      // The deadline of the attempt ends it; these would end what a configuration allows.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return { dispatcher, turns, isPermitted };
  }
}

function policyOf(networks: readonly string[]): AddressPolicy {
  try {
    return createAddressPolicy(networks);
  } catch (cause) {
    const message = 'allow_internal_addresses of the API spec holds what is no network; write networks as 10.20.0.0/16';
    throw new AppError('invalid', message, { reason: 'InvalidNetwork', cause });
  }
}

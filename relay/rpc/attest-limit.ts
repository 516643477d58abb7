import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { type EventBus, ShareUsedError } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import { edgeBuckets, edgeLimits } from '../../lib/edge/index.ts';
import { networkOf } from '../../lib/network-of.ts';
import { retryWhileLate } from '../late-bus.ts';
import type { TrustedProxies } from './trusted-proxies.ts';

/** Addresses whose refusal this process remembers; the longest unused one is forgotten first. */
const addressesMax = 100_000;
const minuteMs = 60_000;
/** Each lost attempt is a call of another request that counts, so that a sixth one finds the address at its limit. */
const attemptsMax = 2 * edgeLimits.attestationsPerMinute;

/** @throws GrpcError `limit_exceeded` for the sixth call of an address within a minute, and where its network has its share. */
type AttestLimit = (address: string) => Promise<void>;

interface AttestLimitDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly bus: Pick<EventBus, 'bucket' | 'problem'>;
}

/**
 * Counts the calls of all relays together; a call that is refused does not count. A refusal is remembered here, so that
 * a flood of one address does not reach the bus. Throws AppError `unavailable` where the bus is away.
 */
export function createAttestLimit({ clock, bus }: AttestLimitDeps): AttestLimit {
  const bucket = bus.bucket<Attestations>(edgeBuckets.attestations);
  const refusals = new LRUCache<string, number>({ max: addressesMax });
  return async (address) => {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const now = clock.now();
      if (now < (refusals.get(address) ?? 0)) break;
      const entry = await retryWhileLate(bus, () => bucket.get(address));
      const recent = (entry?.value.at ?? []).filter((at) => now - at < minuteMs);
      if (recent.length >= edgeLimits.attestationsPerMinute) {
        refusals.set(address, minuteMs + Math.min(...recent));
        break;
      }
      const value = { at: [...recent, now] };
      const counted =
        entry === undefined
          ? await bucket.create(address, value, accountOf(address)).catch(asRefusal)
          : await bucket.update(address, value, entry.revision);
      if (counted !== undefined) return;
    }
    throw tooMany(address, (refusals.get(address) ?? 0) - clock.now());
  };
}

/** Calls of one address that count, in milliseconds since the Unix epoch. */
interface Attestations {
  readonly at: readonly number[];
}

/** Accounts of the bucket's keys. Few, since each that holds a key holds a block of them. */
const accountsMax = 64;

/**
 * The account of an address's count, as no tenant is known before an enrollment. It is the network of 16 bits of IPv4
 * or 32 of IPv6, which providers give to one customer at most. A stranger with all addresses of one so leaves room for
 * the others.
 */
function accountOf(address: string): string {
  const network = isIP(address) === 4 ? address.split('.', 2).join('.') : address.split(':', 2).join(':');
  return `network-${Number.parseInt(hash('sha256', network).slice(0, 8), 16) % accountsMax}`;
}

function asRefusal(error: unknown): never {
  if (!(error instanceof ShareUsedError)) throw error;
  throw refusal('too many addresses of this network attest; wait', error.retryAfterMs);
}

/** Names the address that was seen: where a proxy hides those of its clients, its own uses up the calls of them all. */
const tooMany = (address: string, waitMs: number): GrpcError =>
  refusal(`an address may attest five times a minute, and this call came from ${address}; wait`, waitMs);
const refusal = (message: string, waitMs: number): GrpcError =>
  new GrpcError('limit_exceeded', message, {
    metadata: { 'grpc-retry-pushback-ms': String(Math.max(1_000, waitMs)) },
  });

/**
 * The address that counts: the socket's, or, behind a configured proxy, the last one that this proxy reports. A network of
 * IPv6 of 64 bits counts as one address.
 */
export function addressOf(peer: string, forwarded: string | undefined, proxies: TrustedProxies): string {
  const socket = hostOf(peer);
  const reported = forwarded?.split(',').at(-1)?.trim() ?? '';
  return networkOf(proxies.has(socket) && isIP(reported) !== 0 ? reported : socket);
}

/** `10.0.0.1:443` and `[::1]:443` as grpc-js gives them, or without a port. */
function hostOf(peer: string): string {
  const bare = peer.replace(/^\[?(.*?)\]?(:\d+)?$/, '$1');
  const host = isIP(peer) === 0 ? bare : peer;
  return host.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
}

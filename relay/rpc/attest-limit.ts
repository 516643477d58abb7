import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import { edgeLimits } from '../../lib/edge/index.ts';

/** Addresses that are remembered; the longest unused one is forgotten first. */
const addressesMax = 100_000;
const minuteMs = 60_000;

/** @throws GrpcError `limit_exceeded` for the sixth call of an address within a minute. */
export type AttestLimit = (address: string) => void;

/** Counts in this process; a call that is refused does not count. */
export function createAttestLimit(clock: Pick<Clock, 'now'>): AttestLimit {
  const calls = new LRUCache<string, readonly number[]>({ max: addressesMax });
  return (address) => {
    const now = clock.now();
    const recent = (calls.get(address) ?? []).filter((at) => now - at < minuteMs);
    if (recent.length >= edgeLimits.attestationsPerMinute) {
      const waitMs = minuteMs - (now - (recent[0] ?? now));
      throw new GrpcError('limit_exceeded', 'an address may attest five times a minute; wait', {
        metadata: { 'grpc-retry-pushback-ms': String(waitMs) },
      });
    }
    calls.set(address, [...recent, now]);
  };
}

/**
 * The address that counts: the socket's, or, behind a configured proxy, the last one that this proxy reports. A network of
 * IPv6 of 64 bits counts as one address.
 */
export function addressOf(peer: string, forwarded: string | undefined, proxies: ReadonlySet<string>): string {
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

function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

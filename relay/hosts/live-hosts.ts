import { LRUCache } from 'lru-cache';
import { type Clock, resultWithin } from '../../lib/clock.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import { unanswered } from '../explained.ts';
import { type HostStore, isRevoked, type StoredHost } from './host-store.ts';

/** Reads for streams that are under way at once, those that wait, and for how long: a stream has 10 s to open. */
const reads = { size: 64, waiting: 8_192, waitMs: 8_000 };
/** How long one has; a server that hangs holds no place longer. */
const readMs = 8_000;
/** Hosts that the server has called revoked; the longest unused one is asked about again. */
const revokedMax = 20_000;

interface LiveDeps {
  readonly clock: Clock;
  readonly hosts: Pick<HostStore, 'find'>;
}

/**
 * Hosts as the server has them, read for streams. Tenants share the places, so that the hosts of one hold up no other. Where the
 * server does not answer, a stream is to come back: nothing final follows from that, or from a cache.
 */
export class LiveHosts {
  readonly #deps: LiveDeps;
  readonly #turns: FairPool;
  /** Those that wait for their turns: who asks meanwhile has the same answer. */
  readonly #waiting = new Map<string, Promise<StoredHost | undefined>>();
  readonly #revoked = new LRUCache<string, true>({ max: revokedMax });

  constructor(deps: LiveDeps) {
    this.#deps = deps;
    this.#turns = createFairPool({ ...reads, clock: deps.clock });
  }

  /**
   * As the server has it after the question; undefined where the tenant has no such host.
   * @throws AppError `unavailable` where it does not answer in time, or too many of the tenant wait.
   */
  find(tenant: string, nodeId: string): Promise<StoredHost | undefined> {
    const key = `${tenant}/${nodeId}`;
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting;
    const found = this.#turns.run({ tenant }, () => {
      this.#waiting.delete(key);
      return this.#read(tenant, nodeId);
    });
    this.#waiting.set(key, found);
    found.catch(() => undefined).finally(() => this.#waiting.get(key) === found && this.#waiting.delete(key));
    return found;
  }

  /** Whether the server itself has called this host revoked, which is for good. */
  isKnownRevoked({ object }: StoredHost): boolean {
    return this.#revoked.has(object.metadata.uid ?? '');
  }

  async #read(tenant: string, nodeId: string): Promise<StoredHost | undefined> {
    const { clock, hosts } = this.#deps;
    const read = hosts.find(tenant, nodeId).then((host) => ({ host }));
    // One that is late may still fail.
    read.catch(() => undefined);
    const answer = await resultWithin(clock, readMs, read);
    if (answer === undefined) throw unanswered();
    const { host } = answer;
    if (host !== undefined && isRevoked(host)) this.#revoked.set(host.object.metadata.uid ?? '', true);
    return host;
  }
}

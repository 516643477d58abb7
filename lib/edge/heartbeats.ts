import { LRUCache } from 'lru-cache';
import type { EventBus } from '../bus/index.ts';
import { AppError } from '../errors.ts';
import { edgeBuckets, type HeldStream } from './buckets.ts';
import { type HeartbeatsRequest, relayAddress } from './host-commands.ts';

/** When hosts were heard last. Relays have that in memory, and nothing writes it while a host stays connected. */
export interface Heartbeats {
  /**
   * By uid of the EdgeHost, RFC 3339. A host without an open stream is missing, and so is one whose relay does not answer
   * within a second, or every one while the bus is away.
   */
  last(hostUids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Places of streams that a process remembers. */
const placesMax = 20_000;
const waitMs = 1_000;

export function createHeartbeats({ bus }: { readonly bus: Pick<EventBus, 'bucket' | 'request'> }): Heartbeats {
  const streams = bus.bucket<HeldStream>(edgeBuckets.streams);
  const places = new LRUCache<string, string>({ max: placesMax });

  async function placeOf(uid: string): Promise<string | undefined> {
    const known = places.get(uid);
    if (known !== undefined) return known;
    const found = (await streams.get(uid).catch(noneIfAway))?.value.relay;
    if (found !== undefined) places.set(uid, found);
    return found;
  }

  /** Asks each relay once for all of its hosts. */
  async function ask(uids: readonly string[]): Promise<Map<string, string>> {
    const relays = await Promise.all(uids.map(placeOf));
    const byRelay = Map.groupBy(uids, (_, index) => relays[index]);
    const answers = [...byRelay].map(async ([relay, hosts]) =>
      relay === undefined ? [] : askRelay(bus, relay, hosts),
    );
    return new Map((await Promise.all(answers)).flat());
  }

  return {
    async last(uids) {
      const remembered = uids.filter((uid) => places.has(uid));
      const first = await ask(uids);
      // Their streams may have moved since they were looked up.
      const lost = remembered.filter((uid) => !first.has(uid));
      for (const uid of lost) places.delete(uid);
      return lost.length === 0 ? first : new Map([...first, ...(await ask(lost))]);
    },
  };
}

async function askRelay(bus: Pick<EventBus, 'request'>, relay: string, hosts: readonly string[]) {
  const request: HeartbeatsRequest = { kind: 'heartbeats', hosts };
  const answer = await bus
    .request(relayAddress(relay), JSON.stringify(request), { timeoutMs: waitMs })
    .catch(noneIfAway);
  if (answer === undefined) return [];
  // Only relays serve the address.
  return Object.entries(JSON.parse(Buffer.from(answer).toString('utf8')) as Readonly<Record<string, string>>);
}

/** The relay is gone, is older than this request, or the bus is away: the stored time is shown. */
function noneIfAway(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error;
  return undefined;
}

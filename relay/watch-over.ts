import type { EventBus, KeyValueBucket } from '../lib/bus/index.ts';
import type { Clock } from '../lib/clock.ts';
import { edgeBuckets, edgeLimits, type HeldStream } from '../lib/edge/index.ts';
import { messageOf } from '../lib/errors.ts';
import { isRetryable } from '../lib/kube/index.ts';
import type { Logger } from '../lib/logger.ts';
import { busLost } from './explained.ts';
import { changeStatus, type HostStore, isRevocationUnwritten, isRevoked, type StoredHost } from './hosts/host-store.ts';
import { LivingRelays } from './living-relays.ts';
import { createHeapPace } from './small-heap.ts';
import type { Streams } from './streams/streams.ts';
import { createSweepPace, createWaves } from './sweep-pace.ts';

interface WatchOverDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bus: Pick<EventBus, 'bucket' | 'problem'>;
  readonly hosts: HostStore;
  readonly streams: Streams;
  readonly relayId: string;
  /** A host is Unhealthy after more than this silence. */
  readonly staleMs: number;
  /** Keeps the heap of the process small, or lets it grow. Absent: it stays as it is. */
  readonly keepHeapSmall?: (isSmall: boolean) => void;
}

const tickMs = 1_000;
const aliveEvery = 5;
/** A pass over all streams; entries are renewed hours before they end. */
const renewEvery = 15;
/** design §14: without the bus for so long, another relay may have taken the hosts over. */
const patienceMs = 10_000;

/** One clock for all streams: heartbeats, the relay's own sign of life, its heap, and the hosts of relays that are gone. */
export async function watchOver(deps: WatchOverDeps, signal: AbortSignal): Promise<void> {
  const { clock, bus, streams, staleMs, keepHeapSmall = () => undefined } = deps;
  // Each by itself: a server that does not answer holds up neither the tick nor the sign of life.
  const ending = beside(deps, () => streams.endAll(busLost(), false));
  const entries = beside(deps, () => streams.renewEntries());
  const relays = new LivingRelays(deps);
  const signOfLife = beside(deps, () => relays.say());
  const failed = new Set<string>();
  const sweep = beside(deps, () => markLost(deps, relays, failed));
  const waves = createWaves({ clock, arrivals: () => streams.arrivals });
  const pace = createSweepPace({ clock, staleMs });
  const noteWave = createHeapPace(keepHeapSmall);
  let awaySince: number | undefined;
  let looked: Promise<void> | undefined;
  for (let tick = 0; !signal.aborted; tick += 1) {
    const now = clock.steadyMs();
    awaySince = bus.problem() === undefined ? undefined : (awaySince ?? now);
    if (awaySince !== undefined && now - awaySince >= patienceMs) ending.run();
    // A write that hangs keeps no later look from those that fall silent meanwhile.
    looked = streams.checkHeartbeats();
    if (tick % renewEvery === 0) entries.run();
    if (tick % aliveEvery === 0) signOfLife.run();
    const isComing = waves.isComing();
    noteWave(isComing);
    if (pace.isDue(isComing)) sweep.run();
    await clock.sleep(tickMs, signal);
  }
  await Promise.all([looked, ...[ending, entries, signOfLife, sweep].map((job) => job.last())]);
}

interface Beside {
  /** Begins the job, unless its last run is still under way. */
  run(): void;
  /** Resolves when the last run is over; never rejects. */
  last(): Promise<void>;
}

function beside({ logger }: Pick<WatchOverDeps, 'logger'>, job: () => Promise<void>): Beside {
  let running: Promise<void> | undefined;
  return {
    run() {
      running ??= job()
        .catch((error: unknown) => logger.warn({ problem: messageOf(error) }, 'watch over hosts interrupted'))
        .finally(() => (running = undefined));
    },
    last: async () => running,
  };
}

/** Entries that one sweep looks up at once: after the end of a relay there is one for each of its hosts. */
const lookUpsAtOnce = 32;

/**
 * Hosts whose relay is gone are Disconnected; of several relays that see it, the first writes. `failed`: uids of those that failed when
 * they were looked at last. They come last, and keep no other waiting.
 */
async function markLost(deps: WatchOverDeps, relays: LivingRelays, failed: Set<string>): Promise<void> {
  // A revocation waits for no bus.
  const pass = relays.look();
  pass.catch(() => undefined);
  const sweep: Sweep = { held: deps.bus.bucket<HeldStream>(edgeBuckets.streams), pass };
  const rest = failedLast(deps.hosts.known(), failed);
  const look = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      const uid = uidOf(next.value);
      failed.add(uid);
      await lookAt(deps, next.value, sweep);
      failed.delete(uid);
    }
  };
  // Also those that go on after another one has failed: two sweeps at once would ask twice.
  const ends = await Promise.allSettled(Array.from({ length: lookUpsAtOnce }, look));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  (await pass).end();
}

function* failedLast(hosts: Iterable<StoredHost>, failed: Set<string>): Generator<StoredHost, void> {
  const last: StoredHost[] = [];
  const before = new Set(failed);
  for (const host of hosts) {
    if (before.delete(uidOf(host))) last.push(host);
    else yield host;
  }
  // Those that are left are no hosts any more.
  for (const uid of before) failed.delete(uid);
  yield* last;
}

const uidOf = ({ object }: StoredHost): string => object.metadata.uid ?? '';

/** All that the looks of one sweep share. */
interface Sweep {
  readonly held: KeyValueBucket<HeldStream>;
  readonly pass: ReturnType<LivingRelays['look']>;
}

async function lookAt(deps: WatchOverDeps, host: StoredHost, { held, pass }: Sweep): Promise<void> {
  const { streams } = deps;
  const uid = uidOf(host);
  // Its news came while no server could be asked.
  if (isRevocationUnwritten(host)) await streams.writeRevocation(host);
  if (!isOpen(host) || streams.has(uid)) return;
  const entry = (await held.get(uid))?.value;
  if (!isWithinGrace(deps, entry) && (await (await pass).isGone(uid, entry))) await markUnlessRefused(deps, host, uid);
}

/** A host whose write is refused keeps no other from its own. Rejects where the server does not answer. */
async function markUnlessRefused(deps: WatchOverDeps, host: StoredHost, uid: string): Promise<void> {
  try {
    await markOne(deps, host, uid);
  } catch (error) {
    if (isRetryable(error)) throw error;
    const node = host.object.status?.node_id;
    deps.logger.warn({ node, state: 'Disconnected', problem: messageOf(error) }, 'host state not written');
  }
}

async function markOne({ hosts, streams, clock }: WatchOverDeps, host: StoredHost, uid: string): Promise<void> {
  const nodeId = host.object.status?.node_id ?? '';
  await changeStatus(hosts, { tenant: host.tenant, nodeId }, (now) => {
    const { status } = now.object;
    if (status === undefined || !isOpen(now) || streams.has(uid)) return undefined;
    return { ...status, status: 'Disconnected', since: new Date(clock.now()).toISOString() };
  });
}

/** The stream has just ended, and its daemon may come back. */
const isWithinGrace = ({ clock }: WatchOverDeps, entry: HeldStream | undefined): boolean =>
  entry !== undefined &&
  entry.relay === undefined &&
  Math.abs(clock.now() - Date.parse(entry.at)) < edgeLimits.disconnectGraceMs;

const isOpen = (host: StoredHost): boolean =>
  !isRevoked(host) && (host.object.status?.status === 'Connected' || host.object.status?.status === 'Unhealthy');

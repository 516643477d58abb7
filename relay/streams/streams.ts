import type { EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { edgeLimits, type HostRequest } from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { unanswered } from '../explained.ts';
import { type HostStore, isRevocationUnwritten, isRevoked, type StoredHost } from '../hosts/host-store.ts';
import { LiveHosts } from '../hosts/live-hosts.ts';
import { endInTurns } from './end-in-turns.ts';
import { Entries, replacedReason } from './entries.ts';
import { HostStates } from './host-states.ts';
import { hostRevoked, type LiveStream } from './live-stream.ts';
import { SilentHosts } from './silent-hosts.ts';

interface StreamsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bus: Pick<EventBus, 'bucket' | 'request' | 'problem'>;
  readonly hosts: HostStore;
  /** Names this process. */
  readonly relayId: string;
  /** A host is Unhealthy after more than this silence. */
  readonly staleMs: number;
  /** How often a daemon is asked to say that it lives. */
  readonly heartbeatMs: number;
}

/** The open streams of this relay: which one of a host counts, and when it ends. */
export class Streams {
  /** Reads of hosts for streams, of this whole process. */
  readonly live: LiveHosts;
  readonly #deps: StreamsDeps;
  readonly #open = new Map<string, LiveStream>();
  /** Hosts whose last stream is over, until that is written. */
  readonly #ending = new Map<string, LiveStream>();
  readonly #expected = new Map<string, number>();
  /** Hosts that have said that they are drained, until their drain is undone. */
  readonly #drained = new Set<string>();
  readonly #entries: Entries;
  readonly #states: HostStates;
  readonly #silent: SilentHosts;
  #arrivals = 0;
  #isStopping = false;

  constructor(deps: StreamsDeps) {
    this.#deps = deps;
    this.live = new LiveHosts(deps);
    const ifOpen = (act: (stream: LiveStream) => void) => (stream: LiveStream) => {
      if (this.#open.get(stream.uid) === stream) act(stream);
    };
    this.#entries = new Entries(
      deps,
      ifOpen((stream) => stream.end(replaced())),
    );
    const isOpen = (stream: LiveStream): boolean => this.#open.get(stream.uid) === stream;
    this.#states = new HostStates(deps, { isOpen, onLost: ifOpen((stream) => this.#revoke(stream)) });
    this.#silent = new SilentHosts({ ...deps, isOpen, write: (stream) => this.#states.report(stream) });
    deps.hosts.onChange((uid, host) => {
      if (host?.object.spec.draining !== true) this.#drained.delete(uid);
      const stream = this.#open.get(uid);
      if (stream === undefined) {
        // Whichever relay writes first: no other one has a stream to end.
        if (host !== undefined && isRevocationUnwritten(host)) void this.writeRevocation(host);
      } else if (host === undefined || isRevoked(host)) void this.#judge(stream);
      else {
        stream.host = host;
        this.#correct(stream);
      }
    });
  }

  get(uid: string): LiveStream | undefined {
    return this.#open.get(uid);
  }

  /** Whether the host has a stream here, or one that is being opened, or one whose end is not written yet. */
  has(uid: string): boolean {
    return this.#open.has(uid) || this.#ending.has(uid) || this.#expected.has(uid);
  }

  /** Streams that were begun so far. */
  get arrivals(): number {
    return this.#arrivals;
  }

  /** A daemon has proven by its token that it opens a stream of the host; until the answer is called. */
  expect(uid: string): () => void {
    this.#expected.set(uid, (this.#expected.get(uid) ?? 0) + 1);
    return () => {
      const left = (this.#expected.get(uid) ?? 1) - 1;
      if (left === 0) this.#expected.delete(uid);
      else this.#expected.set(uid, left);
    };
  }

  /** Whether a sender means this stream. Throws AppError `unavailable` where the bus is away. */
  isAt(stream: LiveStream, epoch: number): Promise<boolean> {
    return this.#entries.isAt(stream, epoch);
  }

  /** Open streams by the state of their hosts. */
  counts(): Readonly<Record<'Connected' | 'Unhealthy', number>> {
    let unhealthy = 0;
    for (const { isUnhealthy } of this.#open.values()) unhealthy += Number(isUnhealthy);
    return { Connected: this.#open.size - unhealthy, Unhealthy: unhealthy };
  }

  /** Takes the host over from an older stream, wherever that is (AMB-095). */
  async begin(stream: LiveStream): Promise<void> {
    const arrived = this.expect(stream.uid);
    try {
      await this.#takeOver(stream);
    } finally {
      arrived();
    }
  }

  async #takeOver(stream: LiveStream): Promise<void> {
    this.heard(stream);
    this.#arrivals += 1;
    stream.arrival = this.#arrivals;
    // A recording of an older stream is refused here, and ends no stream.
    const before = await this.#entries.hold(stream);
    stream.progress = (this.#open.get(stream.uid) ?? this.#ending.get(stream.uid) ?? stream).progress;
    this.#succeed(stream);
    await this.#entries.endBefore(stream, before);
  }

  /**
   * Writes that the host of a stream that has begun is connected. Answers the host as the server has it; undefined where it did
   * not answer. Never rejects.
   */
  confirm(stream: LiveStream): Promise<StoredHost | undefined> {
    return this.#states.confirm(stream);
  }

  /** The stream is over: its host is disconnected unless another stream comes within the grace. */
  async over(stream: LiveStream): Promise<void> {
    const { uid } = stream;
    if (this.#open.get(uid) !== stream) return;
    this.#open.delete(uid);
    this.#ending.set(uid, stream);
    await this.#free(stream).finally(() => this.#ending.get(uid) === stream && this.#ending.delete(uid));
  }

  async #free(stream: LiveStream): Promise<void> {
    const isFree = await this.#entries.free(stream);
    // A relay that stops leaves the rest to those that keep running, so that its restart is not a write for each host.
    if (!isFree || this.#isStopping) return;
    await this.#deps.clock.sleep(edgeLimits.disconnectGraceMs);
    if (!(await this.#entries.isHeld(stream.uid))) await this.#states.reportEnd(stream);
  }

  /** Begins the writes of a heartbeat: that the host is back, and its news where a checkpoint is due (EDGE-FLOW-08). */
  checkpoint(stream: LiveStream): void {
    this.#states.checkpoint(stream);
  }

  /** The daemon says that its last command is over: one line of the log for each drain. A drain without an order is strange. */
  drained(stream: LiveStream): void {
    if (!stream.isToDrain) return this.strange(stream, false);
    if (this.#drained.has(stream.uid)) return;
    this.#drained.add(stream.uid);
    this.#deps.logger.info({ node: stream.facts.nodeId }, 'host drained');
  }

  /** A message for a command that the host does not have: one line of the log a minute and stream. */
  strange(stream: LiveStream, isKnown: boolean): void {
    const now = this.#deps.clock.steadyMs();
    const { count: before = 0, loggedAt = -Infinity } = stream.strange ?? {};
    const count = before + 1;
    const isLogged = now - loggedAt >= strangeMs;
    stream.strange = isLogged ? { count: 0, loggedAt: now } : { count, loggedAt };
    if (!isLogged) return;
    const facts = { node: stream.facts.nodeId, isKnown, count };
    this.#deps.logger.warn(facts, 'message for a command that the host does not have');
  }

  /** The daemon has just said that it lives. */
  heard(stream: LiveStream): void {
    stream.lastHeartbeat = this.#deps.clock.now();
    stream.lastHeard = this.#deps.clock.steadyMs();
  }

  /**
   * Looks once at every stream: a host that was silent for too long is Unhealthy (AMB-096). Resolves when that is written, as far as
   * the server takes it; another look may begin before. Never rejects.
   */
  checkHeartbeats(): Promise<void> {
    return this.#silent.look(this.#open.values());
  }

  /** Writes the entries again that are half of their time old. */
  renewEntries(): Promise<void> {
    return this.#entries.renewDue(this.#open.values());
  }

  /** Ends every stream that is open now; their daemons connect elsewhere. */
  async endAll(problem: AppError, isStopping: boolean): Promise<void> {
    this.#isStopping ||= isStopping;
    await endInTurns(this.#open.values(), problem);
  }

  /** Writes that a host is revoked which holds no stream. Never rejects. */
  writeRevocation({ tenant, object }: StoredHost): Promise<void> {
    return this.#states.writeRevocation({ tenant, nodeId: object.status?.node_id ?? '' });
  }

  /** An order of `lib/edge/host-commands.ts` that ends a stream. */
  endOne(request: Extract<HostRequest, { readonly kind: 'drop' }>): void {
    const stream = this.#open.get(request.host.hostUid);
    if (stream === undefined) return;
    if (request.reason !== replacedReason) this.#revoke(stream);
    // The host may have come back here meanwhile. Relays of former versions send no epoch.
    else if (request.epoch === 0 || stream.epoch < request.epoch) stream.end(replaced());
  }

  /**
   * A host is said to be revoked or gone. A daemon gives up for good when it hears that, and a watch may begin anew at a
   * server that is behind: the stream ends so when the server itself says it. Never rejects.
   */
  async #judge(stream: LiveStream): Promise<void> {
    const { tenant } = stream.host;
    const read = this.live.find(tenant, stream.facts.nodeId).then((host) => ({ host }));
    const answer = await read.catch(() => undefined);
    if (this.#open.get(stream.uid) !== stream) return;
    if (answer === undefined) return stream.end(unanswered());
    const { host } = answer;
    if (host === undefined || isRevoked(host) || host.object.metadata.uid !== stream.uid) return this.#revoke(stream);
    stream.host = host;
    this.#correct(stream);
  }

  #revoke(stream: LiveStream): void {
    stream.end(hostRevoked());
    void this.#states.writeRevocation({ tenant: stream.host.tenant, nodeId: stream.facts.nodeId });
  }

  /** The later one of two streams of a host at this relay stays, whichever has written the entry last. */
  #succeed(stream: LiveStream): void {
    const open = this.#open.get(stream.uid);
    const isLate = open !== undefined && open.arrival > stream.arrival;
    const [newer, older] = isLate ? [open, stream] : [stream, open];
    this.#open.set(stream.uid, newer);
    if (older !== undefined && older.epoch > newer.epoch) {
      newer.takeEntryOf(older);
      void this.#entries.renew(newer).catch(() => undefined);
    }
    if (isLate) throw replaced();
    open?.end(replaced());
  }

  /** Another relay took the host of an open stream for lost, or its write came late. */
  #correct(stream: LiveStream): void {
    const state = stream.isUnhealthy ? 'Unhealthy' : 'Connected';
    const stored = stream.host.object.status?.status;
    if (stored !== undefined && stored !== state) void this.#states.report(stream);
  }
}

const strangeMs = 60_000;

const replaced = (): AppError =>
  new AppError('conflict', 'a newer stream of this host has taken over', { reason: 'StreamReplaced' });

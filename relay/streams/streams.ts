import type { EdgeHostCapabilities, EdgeHostState, EdgeHostStatus } from '../../crds/schema/edge-host.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { edgeBuckets, edgeLimits, type HeldStream, type HostRequest, relayAddress } from '../../lib/edge/index.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { sameJson } from '../../lib/same-json.ts';
import {
  changeStatus,
  type HostStore,
  isRevocationUnwritten,
  isRevoked,
  type StoredHost,
} from '../hosts/host-store.ts';
import { Checkpoints } from './checkpoints.ts';
import { holdEntry, renewAfterMs, renewEntry } from './held-entry.ts';
import { hostRevoked, type LiveStream } from './live-stream.ts';

export interface StreamsDeps {
  readonly clock: Clock;
  /** Milliseconds that never step: a clock that is set anew makes no host silent. */
  readonly steadyMs: () => number;
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

/** The open streams of this relay, and what is written about them. */
export class Streams {
  readonly #deps: StreamsDeps;
  readonly #open = new Map<string, LiveStream>();
  /** Hosts whose last stream is over, until that is written. */
  readonly #ending = new Map<string, LiveStream>();
  readonly #checkpoints: Checkpoints;
  #arrivals = 0;
  #isStopping = false;

  constructor(deps: StreamsDeps) {
    this.#deps = deps;
    this.#checkpoints = new Checkpoints(deps.steadyMs, deps.heartbeatMs);
    deps.hosts.onChange((uid, host) => {
      const stream = this.#open.get(uid);
      if (stream === undefined) {
        // Whichever relay writes first: no other one has a stream to end.
        if (host !== undefined && isRevocationUnwritten(host)) void this.writeRevocation(host);
      } else if (host === undefined || isRevoked(host)) this.#revoke(stream);
      else {
        stream.host = host;
        this.#correct(stream);
      }
    });
  }

  get(uid: string): LiveStream | undefined {
    return this.#open.get(uid);
  }

  /** Whether the host has a stream here, or one whose end is not written yet. */
  has(uid: string): boolean {
    return this.#open.has(uid) || this.#ending.has(uid);
  }

  /**
   * Whether a sender means this stream. An entry that is newer than we know is looked up: the answer to a write of ours may
   * have been lost. Throws AppError `unavailable` where the bus is away.
   */
  async isAt(stream: LiveStream, epoch: number): Promise<boolean> {
    if (await stream.isAt(epoch)) return true;
    if (epoch <= stream.epoch) return false;
    await this.#renewNow(stream);
    return stream.isAt(epoch);
  }

  /** Open streams by the state of their hosts. */
  counts(): Readonly<Record<'Connected' | 'Unhealthy', number>> {
    let unhealthy = 0;
    for (const { isUnhealthy } of this.#open.values()) unhealthy += Number(isUnhealthy);
    return { Connected: this.#open.size - unhealthy, Unhealthy: unhealthy };
  }

  /**
   * Takes the host over from an older stream, wherever that is (AMB-095), and writes that it is connected. Answers the host as
   * the server has it; undefined where it did not answer.
   */
  async begin(stream: LiveStream): Promise<StoredHost | undefined> {
    this.heard(stream);
    this.#arrivals += 1;
    stream.arrival = this.#arrivals;
    // A recording of an older stream is refused here, and ends no stream.
    const before = await holdEntry(this.#deps, stream);
    stream.progress = (this.#open.get(stream.uid) ?? this.#ending.get(stream.uid) ?? stream).progress;
    this.#succeed(stream);
    if (before?.relay !== undefined && before.relay !== this.#deps.relayId)
      await this.#replaceElsewhere(stream, before);
    let found: StoredHost | undefined;
    await this.report(stream, 'Connected', (host) => (found = host));
    return found;
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
    const { clock, bus } = this.#deps;
    const { uid } = stream;
    await stream.renewing;
    const at = new Date(clock.now()).toISOString();
    const freed = await bus
      .bucket<HeldStream>(edgeBuckets.streams)
      .update(uid, { uid, at, recent: stream.recent }, stream.epoch)
      .catch(() => undefined);
    // A relay that stops leaves the rest to those that keep running, so that its restart is not a write for each host.
    if (freed === undefined || this.#isStopping) return;
    await clock.sleep(edgeLimits.disconnectGraceMs);
    const now = await bus.bucket<HeldStream>(edgeBuckets.streams).get(uid);
    if (now?.value.relay === undefined) await this.report(stream, 'Disconnected');
  }

  /**
   * Writes the state of a host where it is news, and answers whether it is stored. A host that is revoked or gone by now loses
   * its stream. A failed write is tried again: Connected at the next heartbeat, Unhealthy at the next look. Capabilities that
   * come faster than checkpoints wait for a later one.
   */
  async report(
    stream: LiveStream,
    state: Exclude<EdgeHostState, 'Revoked'>,
    onFound: (host: StoredHost) => void = () => undefined,
  ): Promise<boolean> {
    const { clock, hosts, logger } = this.#deps;
    const { nodeId } = stream.facts;
    let counts = false;
    // Also where the server turns out to have them: asking it costs as well.
    let mayWrite = stream.hasNews && this.#checkpoints.take(stream.uid);
    try {
      await changeStatus(hosts, { tenant: stream.host.tenant, nodeId }, (host) => {
        onFound(host);
        const status = isRevoked(host) ? undefined : host.object.status;
        counts = status !== undefined;
        if (status === undefined) return undefined;
        const differs = !sameJson(status.capabilities, stream.capabilities);
        mayWrite ||= differs && this.#checkpoints.take(stream.uid);
        stream.hasNews = differs && !mayWrite;
        const known = withNews(status, differs && mayWrite ? stream.capabilities : undefined);
        if (known === status && status.status === state) return undefined;
        return newStatus(known, { state, stream, now: clock.now() });
      });
      // It may have been revoked after its token was read, and before anybody looked for its stream.
      if (!counts && this.#open.get(stream.uid) === stream) this.#revoke(stream);
      if (state === 'Connected') stream.isUnwritten = false;
      return true;
    } catch (error) {
      if (state === 'Unhealthy') stream.isUnhealthy = false;
      else stream.isUnwritten = true;
      if (mayWrite) {
        this.#checkpoints.giveBack(stream.uid);
        stream.hasNews = true;
      }
      logger.warn({ node: nodeId, state, problem: messageOf(error) }, 'host state not written');
      return false;
    }
  }

  /** What a heartbeat has written: that the host is back, and its news where a checkpoint is due (EDGE-FLOW-08). */
  async checkpoint(stream: LiveStream): Promise<void> {
    const isBack = stream.isUnhealthy || stream.isUnwritten;
    stream.isUnhealthy = false;
    if (isBack || (stream.hasNews && this.#checkpoints.isDue(stream.uid))) await this.report(stream, 'Connected');
  }

  /** A message for a command that the host does not have: one line of the log a minute and stream. */
  strange(stream: LiveStream, isKnown: boolean): void {
    const now = this.#deps.steadyMs();
    const count = stream.strange.count + 1;
    stream.strange.count = count;
    if (now - stream.strange.loggedAt < strangeMs) return;
    stream.strange = { count: 0, loggedAt: now };
    const facts = { node: stream.facts.nodeId, isKnown, count };
    this.#deps.logger.warn(facts, 'message for a command that the host does not have');
  }

  /** The daemon has just said that it lives. */
  heard(stream: LiveStream): void {
    stream.lastHeartbeat = this.#deps.clock.now();
    stream.lastHeard = this.#deps.steadyMs();
  }

  /** Looks once at every stream: who has been silent for too long is Unhealthy (AMB-096). */
  async checkHeartbeats(): Promise<void> {
    const now = this.#deps.steadyMs();
    for (const stream of this.#open.values()) {
      if (stream.isUnhealthy || now - stream.lastHeard <= this.#deps.staleMs) continue;
      stream.isUnhealthy = true;
      // One attempt a look is enough where the server does not answer.
      if (!(await this.report(stream, 'Unhealthy'))) return;
    }
  }

  /** Writes the entries again that have stood for half of their time; the oldest first, a bounded number at once. */
  async renewEntries(): Promise<void> {
    const now = this.#deps.clock.now();
    // A clock that was set back makes an entry look younger than it is.
    const isDue = ({ heldAt }: LiveStream): boolean => heldAt !== 0 && Math.abs(now - heldAt) >= renewAfterMs;
    const due = [...this.#open.values()].filter(isDue).slice(0, renewedAtOnce);
    for (const stream of due) await this.#renewNow(stream);
  }

  /** Ends every stream; their daemons connect elsewhere. */
  endAll(problem: string, isStopping: boolean): void {
    this.#isStopping ||= isStopping;
    for (const stream of this.#open.values()) stream.end(new AppError('unavailable', problem));
  }

  /** Writes that a host is revoked which holds no stream. Never rejects. */
  writeRevocation({ tenant, object }: StoredHost): Promise<void> {
    return this.#writeRevoked({ tenant, nodeId: object.status?.node_id ?? '' });
  }

  /** An order of `lib/edge/host-commands.ts` that ends a stream. */
  endOne(request: Extract<HostRequest, { readonly kind: 'drop' }>): void {
    const stream = this.#open.get(request.host.hostUid);
    if (stream === undefined) return;
    if (request.reason !== replacedReason) this.#revoke(stream);
    // The host may have come back here meanwhile. Relays of former versions send no epoch.
    else if (request.epoch === 0 || stream.epoch < request.epoch) stream.end(replaced());
  }

  #revoke(stream: LiveStream): void {
    stream.end(hostRevoked());
    void this.#writeRevoked({ tenant: stream.host.tenant, nodeId: stream.facts.nodeId });
  }

  async #writeRevoked(host: { readonly tenant: string; readonly nodeId: string }): Promise<void> {
    const { hosts, clock, logger } = this.#deps;
    const since = new Date(clock.now()).toISOString();
    try {
      await changeStatus(hosts, host, (now) =>
        isRevocationUnwritten(now) && now.object.status !== undefined
          ? { ...now.object.status, status: 'Revoked', since }
          : undefined,
      );
    } catch (error) {
      logger.warn({ node: host.nodeId, problem: messageOf(error) }, 'revocation not written');
    }
  }

  /** Of two streams of a host at this relay the one stays that began later, whichever has written the entry last. */
  #succeed(stream: LiveStream): void {
    const open = this.#open.get(stream.uid);
    const isLate = open !== undefined && open.arrival > stream.arrival;
    const [newer, older] = isLate ? [open, stream] : [stream, open];
    this.#open.set(stream.uid, newer);
    if (older !== undefined && older.epoch > newer.epoch) {
      newer.takeEntryOf(older);
      void this.#renewNow(newer).catch(() => undefined);
    }
    if (isLate) throw replaced();
    open?.end(replaced());
  }

  /** Another relay took the host of an open stream for lost, or its write came late. */
  #correct(stream: LiveStream): void {
    const state = stream.isUnhealthy ? 'Unhealthy' : 'Connected';
    const stored = stream.host.object.status?.status;
    if (stored !== undefined && stored !== state) void this.report(stream, state);
  }

  #renewNow(stream: LiveStream): Promise<void> {
    const renewal = this.#renew(stream);
    stream.renewing = renewal.catch(() => undefined);
    return renewal;
  }

  async #renew(stream: LiveStream): Promise<void> {
    const isOurs = await renewEntry(this.#deps, stream);
    if (!isOurs && this.#open.get(stream.uid) === stream) stream.end(replaced());
  }

  async #replaceElsewhere(stream: LiveStream, before: HeldStream): Promise<void> {
    const { bus } = this.#deps;
    const host = { tenant: stream.host.tenant, hostUid: stream.uid, nodeId: stream.facts.nodeId };
    const request: HostRequest = { kind: 'drop', host, epoch: stream.epoch, reason: replacedReason };
    // A relay that is gone holds no stream any more.
    await bus
      .request(relayAddress(before.relay ?? ''), JSON.stringify(request), { timeoutMs: 2_000 })
      .catch(() => undefined);
  }
}

const strangeMs = 60_000;
/** Entries that one look writes again. */
const renewedAtOnce = 500;
const replacedReason = 'replaced';

const replaced = (): AppError =>
  new AppError('conflict', 'a newer stream of this host has taken over', { reason: 'StreamReplaced' });

interface News {
  readonly state: EdgeHostState;
  readonly stream: LiveStream;
  readonly now: number;
}

const withNews = (status: EdgeHostStatus, capabilities: EdgeHostCapabilities | undefined): EdgeHostStatus =>
  capabilities === undefined ? status : { ...status, capabilities };

function newStatus(status: EdgeHostStatus, { state, stream, now }: News): EdgeHostStatus {
  const since = status.status === state ? status.since : new Date(now).toISOString();
  const last = new Date(stream.lastHeartbeat).toISOString();
  return { ...status, status: state, since, last_heartbeat_at: last };
}

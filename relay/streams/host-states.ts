import type { EdgeHostState, EdgeHostStatus } from '../../crds/schema/edge-host.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import type { Logger } from '../../lib/logger.ts';
import { sameJson } from '../../lib/same-json.ts';
import { createTokenBuckets, type TokenBuckets } from '../../lib/token-buckets.ts';
import {
  changeStatus,
  type HostStore,
  isRevocationUnwritten,
  isRevoked,
  type StoredHost,
} from '../hosts/host-store.ts';
import type { LiveStream } from './live-stream.ts';
import { createLookUps, type LookUps } from './look-ups.ts';

interface HostStatesDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hosts: HostStore;
  /** How often a daemon is asked to say that it lives. */
  readonly heartbeatMs: number;
}

/**
 * Hosts that this process asks the API server about at once. After the restart of a relay ten thousand are due in seconds: their
 * calls would take more than the time that each has, and then come again.
 */
const callsAtOnce = 64;
/** How long a state may wait for its turn: hosts that come back at once are many, and each of them is written once. */
const turnMs = 5 * 60_000;

/** The streams of this relay, as far as the states of their hosts depend on them. */
interface StreamView {
  /** Whether the stream is the one of its host here. */
  isOpen(stream: LiveStream): boolean;
  /** The host of the stream is revoked or gone. */
  onLost(stream: LiveStream): void;
}

interface ReportOptions {
  /** The host as the server had it since the stream began. */
  readonly known?: StoredHost | undefined;
  /** Receives the host as the server has it. */
  readonly onFound: (host: StoredHost) => void;
}

/** Hosts whose checkpoints this process counts; the longest unused one is forgotten first. */
const hostsMax = 20_000;
/** Checkpoints that a host may have before its pace counts, so that a daemon which starts is not held up. */
const burst = 4;

/**
 * How often new capabilities of a host are written, over all of its streams at this relay; keys are uids. One checkpoint for
 * each heartbeat interval, and four at first. A write of capabilities is a version of the object in the store, and an event for
 * each watch.
 */
const createCheckpoints = (clock: Clock, intervalMs: number): TokenBuckets =>
  createTokenBuckets({ nowMs: () => clock.steadyMs(), burst, intervalMs, keysMax: hostsMax });

/** The state of a host as this relay sees it, where it is news: what `EdgeHost.status` holds of it. */
export class HostStates {
  readonly #deps: HostStatesDeps;
  readonly #view: StreamView;
  readonly #checkpoints: TokenBuckets;
  readonly #calls: FairPool;
  readonly #lookUps: LookUps;

  constructor(deps: HostStatesDeps, view: StreamView) {
    this.#deps = deps;
    this.#view = view;
    this.#checkpoints = createCheckpoints(deps.clock, deps.heartbeatMs);
    this.#calls = createFairPool({ size: callsAtOnce, clock: deps.clock, waitMs: turnMs });
    this.#lookUps = createLookUps(deps, callsAtOnce);
  }

  /**
   * Writes that the host of a stream is connected, in its turn: the streams of a tenant that wait are no more than a line of a list.
   * A host that was silent for too long meanwhile is Unhealthy.
   * Answers the host as the server has it; undefined where the server did not answer, or the stream is over.
   */
  async confirm(stream: LiveStream): Promise<StoredHost | undefined> {
    const { turn, hurry } = this.#lookUps.enter(stream.host.tenant, stream.facts.nodeId);
    stream.hurry = hurry;
    using given = await turn;
    let found: StoredHost | undefined;
    const state = stream.isUnhealthy ? 'Unhealthy' : 'Connected';
    await this.report(stream, state, { known: given.host, onFound: (host) => (found = host) });
    stream.forgetHurry();
    return found;
  }

  /**
   * Writes the state of a host where it is news, and answers whether it is stored. A host that is revoked or gone by now loses
   * its stream. A failed write is tried again: Connected at the next heartbeat, Unhealthy at the next look. Capabilities that
   * come faster than checkpoints wait for a later one.
   */
  async report(
    stream: LiveStream,
    state: Exclude<EdgeHostState, 'Revoked'>,
    { known, onFound }: ReportOptions = byItself,
  ): Promise<boolean> {
    const { clock, hosts, logger } = this.#deps;
    const of = { tenant: stream.host.tenant, nodeId: stream.facts.nodeId };
    let counts = false;
    // Also where the server turns out to have them: asking it costs as well.
    let mayWrite = stream.hasNews && this.#checkpoints.take(stream.uid);
    try {
      using _place = this.#calls.tryEnter(of) ?? (await this.#calls.enter(of));
      // It may have ended while it waited: the end of it is written, and nothing after that.
      const isStale = (): boolean => state !== 'Disconnected' && !this.#view.isOpen(stream);
      if (isStale()) return false;
      const newsOf = (host: StoredHost): EdgeHostStatus | undefined => {
        onFound(host);
        const status = isRevoked(host) ? undefined : host.object.status;
        counts = status !== undefined;
        if (status === undefined) return undefined;
        const differs = !sameJson(status.capabilities, stream.capabilities);
        mayWrite ||= differs && this.#checkpoints.take(stream.uid);
        stream.hasNews = differs && !mayWrite;
        const next = differs && mayWrite ? this.#withNews(status, stream) : status;
        if (next === status && status.status === state) return undefined;
        return newStatus(next, { state, stream, now: clock.now() });
      };
      await changeStatus(hosts, of, (host) => (isStale() ? undefined : newsOf(host)), known);
      // It may have been revoked after its token was read, and before its stream was looked for.
      if (!counts) this.#view.onLost(stream);
      if (state === 'Connected') stream.isUnwritten = false;
      return true;
    } catch (error) {
      if (state === 'Unhealthy') stream.isUnhealthy = false;
      else stream.isUnwritten = true;
      if (mayWrite) {
        this.#checkpoints.giveBack(stream.uid);
        stream.hasNews = true;
      }
      logger.warn({ node: of.nodeId, state, problem: messageOf(error) }, 'host state not written');
      return false;
    }
  }

  /** Result of a heartbeat: whether the host is back, and its news where a checkpoint is due (EDGE-FLOW-08). */
  async checkpoint(stream: LiveStream): Promise<void> {
    const isBack = stream.isUnhealthy || stream.isUnwritten;
    stream.isUnhealthy = false;
    if (isBack || (stream.hasNews && this.#checkpoints.isDue(stream.uid))) await this.report(stream, 'Connected');
  }

  #withNews(status: EdgeHostStatus, { facts, capabilities }: LiveStream): EdgeHostStatus {
    const { facts_left_out: leftOut } = capabilities;
    if (leftOut !== undefined)
      this.#deps.logger.warn(
        { node: facts.nodeId, leftOut },
        'tools and labels of a host left out: they are too long together',
      );
    return { ...status, capabilities };
  }

  /** Writes that a host is revoked. Never rejects. */
  async writeRevocation(host: { readonly tenant: string; readonly nodeId: string }): Promise<void> {
    const { hosts, clock, logger } = this.#deps;
    const since = new Date(clock.now()).toISOString();
    const { tenant } = host;
    try {
      using _place = this.#calls.tryEnter({ tenant }) ?? (await this.#calls.enter({ tenant }));
      await changeStatus(hosts, host, (now) =>
        isRevocationUnwritten(now) && now.object.status !== undefined
          ? { ...now.object.status, status: 'Revoked', since: now.object.spec.revoked_at ?? since }
          : undefined,
      );
    } catch (error) {
      logger.warn({ node: host.nodeId, problem: messageOf(error) }, 'revocation not written');
    }
  }
}

const byItself: ReportOptions = { onFound: () => undefined };

interface News {
  readonly state: EdgeHostState;
  readonly stream: LiveStream;
  readonly now: number;
}

function newStatus(status: EdgeHostStatus, { state, stream, now }: News): EdgeHostStatus {
  const since = status.status === state ? status.since : new Date(now).toISOString();
  const last = new Date(stream.lastHeartbeat).toISOString();
  return { ...status, status: state, since, last_heartbeat_at: last };
}

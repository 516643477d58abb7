import type { EdgeHostState, EdgeHostStatus } from '../../crds/schema/edge-host.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import { revokedAt } from '../../lib/fleet/fleet-host.ts';
import { isRetryable } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { sameJson } from '../../lib/same-json.ts';
import type { TokenBuckets } from '../../lib/token-buckets.ts';
import { createHostPace } from '../hosts/host-pace.ts';
import {
  changeStatus,
  type HostStore,
  isRevocationUnwritten,
  isRevoked,
  type StoredHost,
} from '../hosts/host-store.ts';
import type { LiveStream } from './live-stream.ts';
import { createLookUps, type LookUps } from './look-ups.ts';
import type { WriteEnd } from './silent-hosts.ts';

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

/** A state to write, as it is whenever it is asked for. */
interface Reported {
  readonly stream: LiveStream;
  readonly stateOf: () => EdgeHostState;
  /** Whether nothing is to be written any more. */
  readonly isStale: () => boolean;
}

interface ReportOptions {
  /** The host as the server had it since the stream began. */
  readonly known?: StoredHost | undefined;
  /** Receives the host as the server has it. */
  readonly onFound: (host: StoredHost) => void;
}

/** Checkpoints that a host may have before its pace counts, so that a daemon which starts is not held up. */
const burst = 4;

/**
 * How often new capabilities of a host are written, over all of its streams at this relay; keys are uids. One checkpoint for
 * each heartbeat interval, and four at first. A write of capabilities is a version of the object in the store, and an event for
 * each watch.
 */
const createCheckpoints = (clock: Clock, intervalMs: number): TokenBuckets =>
  createHostPace(clock, { burst, intervalMs });

/** The state of a host as this relay sees it, where it is news: what `EdgeHost.status` holds of it. */
export class HostStates {
  readonly #deps: HostStatesDeps;
  readonly #view: StreamView;
  readonly #checkpoints: TokenBuckets;
  readonly #calls: FairPool;
  readonly #lookUps: LookUps;
  /** Streams whose checkpoint is under way, and whether another heartbeat has asked for one since. */
  readonly #underWay = new Map<LiveStream, 'once' | 'again'>();

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
    await this.report(stream, { known: given.host, onFound: (host) => (found = host) });
    stream.forgetHurry();
    return found;
  }

  /**
   * Writes the state of the host of an open stream as it is at the moment of the write, where that is news. A host that is revoked
   * or gone by now loses its stream. A failed write is tried again: Connected at the next heartbeat, Unhealthy at the next look.
   * Capabilities that come faster than checkpoints wait for a later one. Never rejects.
   */
  report(stream: LiveStream, options: ReportOptions = byItself): Promise<WriteEnd> {
    const stateOf = (): EdgeHostState => (stream.isUnhealthy ? 'Unhealthy' : 'Connected');
    return this.#report({ stream, stateOf, isStale: () => !this.#view.isOpen(stream) }, options);
  }

  /** Writes that the stream of a host is over. Never rejects. */
  reportEnd(stream: LiveStream): Promise<WriteEnd> {
    return this.#report({ stream, stateOf: () => 'Disconnected', isStale: () => false }, byItself);
  }

  async #report({ stream, stateOf, isStale }: Reported, { known, onFound }: ReportOptions): Promise<WriteEnd> {
    const { clock, hosts, logger } = this.#deps;
    const of = { tenant: stream.host.tenant, nodeId: stream.facts.nodeId };
    let counts = false;
    let state = stateOf();
    // Also where the server turns out to have them: asking it costs as well.
    let mayWrite = stream.hasNews && this.#checkpoints.take(stream.uid);
    try {
      using _place = this.#calls.tryEnter(of) ?? (await this.#calls.enter(of));
      // It may have ended while it waited: the end of it is written, and nothing after that.
      if (isStale()) return 'done';
      const newsOf = (host: StoredHost): EdgeHostStatus | undefined => {
        onFound(host);
        state = stateOf();
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
      // The daemon may have spoken during the write.
      stream.isUnwritten = state !== stateOf();
      return 'done';
    } catch (error) {
      stream.isUnwritten = true;
      if (mayWrite) {
        this.#checkpoints.giveBack(stream.uid);
        stream.hasNews = true;
      }
      logger.warn({ node: of.nodeId, state, problem: messageOf(error) }, 'host state not written');
      return isRetryable(error) ? 'unanswered' : 'refused';
    }
  }

  /**
   * Result of a heartbeat: writes that the host is back, and its news where a checkpoint is due (EDGE-FLOW-08). The stream does not
   * wait for it: a daemon whose words are not read while the server is slow would be taken for silent.
   */
  checkpoint(stream: LiveStream): void {
    const isBack = stream.isUnhealthy || stream.isUnwritten;
    stream.isUnhealthy = false;
    if (!isBack && !this.#isNewsDue(stream)) return;
    if (this.#underWay.has(stream)) this.#underWay.set(stream, 'again');
    else void this.#checkpointWhileAsked(stream);
  }

  #isNewsDue(stream: LiveStream): boolean {
    return stream.hasNews && this.#checkpoints.isDue(stream.uid);
  }

  /** One at a time of each stream, and once more for the heartbeats that came meanwhile. */
  async #checkpointWhileAsked(stream: LiveStream): Promise<void> {
    do {
      this.#underWay.set(stream, 'once');
      await this.report(stream);
    } while (this.#underWay.get(stream) === 'again' && (stream.isUnwritten || this.#isNewsDue(stream)));
    this.#underWay.delete(stream);
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
          ? { ...now.object.status, status: 'Revoked', since: revokedAt(now.object, clock.now()) ?? since }
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

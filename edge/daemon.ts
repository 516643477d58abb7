import { platform } from 'node:os';
import { fullJitter } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import { durationOf, hostRevokedReason } from '../lib/edge/index.ts';
import { AppError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { EdgeCapabilities } from '../proto/generated/windlass/node/v1/node.ts';
import type { MergedConfig } from './config/merged-config.ts';
import type { LocalConfig } from './config/schema.ts';
import type { Journal } from './journal/journal.ts';
import { daemonLimits } from './limits.ts';
import { isRotationDue, rotateKey } from './rotation.ts';
import { type HostCredential, type HostIdentity, type HostState, pinnedKeys } from './state/host-state.ts';
import { pushbackMsOf, type RelayClient } from './stream/relay-client.ts';
import { createStreamSession, type StreamSession } from './stream/session.ts';
import { archName } from './tools/host-info.ts';
import type { HostTools } from './tools/host-tools.ts';
import { createExecutor, type Executor } from './work/executor.ts';

interface DaemonDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** From 0 to below 1. */
  readonly chance: () => number;
  readonly state: HostState;
  readonly identity: HostIdentity;
  readonly credential: HostCredential;
  readonly journal: Journal;
  readonly config: MergedConfig;
  readonly tools: HostTools;
  /** A new connection to the relay. */
  readonly open: (identity: HostIdentity) => RelayClient;
}

/** Why a daemon ended. `revoked` is final. */
type DaemonEnd = 'stopped' | 'shutdown' | 'revoked';

/** The present state of the daemon, for `status`. Holds no secrets. */
export interface DaemonFacts {
  readonly connected: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
  readonly problem: string;
  /** Until the next attempt, where there is no stream. */
  readonly again_in_ms: number;
  readonly under_way: number;
  readonly draining: boolean;
  readonly results_waiting: number;
  readonly config_version: string;
  readonly tools: readonly string[];
}

interface Daemon {
  /** Runs until the signal aborts, the server shuts it down, or the host is revoked. */
  run(stop: AbortSignal): Promise<DaemonEnd>;
  facts(): DaemonFacts;
}

/** Time that commands under way get when the daemon stops. */
const stopGraceMs = 10_000;
/** A stream that lived so long is no failure. */
const lastingMs = 30_000;

export function createDaemon(deps: DaemonDeps): Daemon {
  const executor = createExecutor({
    ...deps,
    config: () => deps.config.current,
    proof: {
      commandKey: pinnedKeys(deps.identity).command,
      tenant: deps.identity.tenant,
      nodeId: deps.identity.nodeId,
    },
    concurrent: deps.config.current.max_concurrent_commands,
    outbox: {
      result: (id) => life.session?.result(id),
      output: (...output) => life.session?.output(...output),
      started: (id) => life.session?.started(id),
      unkept: (id, result) => life.session?.unkept(id, result),
    },
  });
  const life = new Life(deps, executor);
  return { run: (stop) => life.run(stop), facts: () => life.facts() };
}

/**
 * The host's report of itself: its system, its tools, its folders, the labels of its configuration, and its owner's limit
 * for the time of a command.
 */
const capabilitiesOf = (
  tools: readonly string[],
  { mounts = [], labels = {}, command_timeout_secs: most }: LocalConfig,
): EdgeCapabilities => ({
  os: platform(),
  arch: archName(),
  localTools: [...tools],
  mountPoints: mounts.map(({ path }) => path),
  customLabels: { ...labels },
  commandTimeout: most === undefined ? undefined : durationOf(most * 1_000),
});

class Life {
  readonly #deps: DaemonDeps;
  readonly #executor: Executor;
  session: StreamSession | undefined;
  #client: RelayClient | undefined;
  #credential: HostCredential;
  #heldSince: number;
  #since: number;
  #rotating: Promise<void> | undefined;
  #problem = '';
  #failures = 0;
  /** How long the relay has this host stay away. */
  #askedMs = 0;
  /** When the next stream is due, by the steady clock. */
  #againAt = 0;
  #isShutdown = false;

  constructor(deps: DaemonDeps, executor: Executor) {
    this.#deps = deps;
    this.#executor = executor;
    this.#credential = deps.credential;
    this.#since = deps.clock.now();
    this.#heldSince = deps.clock.steadyMs();
  }

  facts(): DaemonFacts {
    const { journal, config, tools } = this.#deps;
    return {
      connected: this.session !== undefined,
      since: this.#since,
      problem: this.#problem,
      again_in_ms: Math.max(0, Math.round(this.#againAt - this.#deps.clock.steadyMs())),
      under_way: this.#executor.underWay,
      draining: this.#executor.isDraining,
      results_waiting: journal.waiting().length,
      config_version: config.version,
      tools: tools.names,
    };
  }

  async run(stop: AbortSignal): Promise<DaemonEnd> {
    await this.#executor.recover();
    const ended = new AbortController();
    const leave = (): void => void this.session?.leave(stopGraceMs, 'the daemon stops');
    stop.addEventListener('abort', leave, { once: true });
    void this.#maintain(ended.signal);
    try {
      while (!stop.aborted && !this.#isShutdown) {
        if ((await this.#connectOnce(stop)) === 'revoked') return 'revoked';
        if (!stop.aborted && !this.#isShutdown) await this.#pause(stop);
      }
      return this.#isShutdown ? 'shutdown' : 'stopped';
    } finally {
      ended.abort();
      stop.removeEventListener('abort', leave);
      await this.#executor.stop(0, 'the daemon stops');
    }
  }

  /** One stream. Its errors are kept for `status`; only a revocation ends the daemon. */
  async #connectOnce(stop: AbortSignal): Promise<'ended' | 'revoked'> {
    const { clock, logger, identity, open } = this.#deps;
    const began = clock.steadyMs();
    using client = open(identity);
    try {
      this.#client = client;
      await this.#rotateWhenDue();
      // A stop that came meanwhile found no session to leave.
      if (stop.aborted) return 'ended';
      this.session = createStreamSession(this.#sessionDeps(), client.connect(this.#credential.token));
      this.#since = clock.now();
      logger.info({}, 'stream opened');
      await this.session.run();
      this.#problem = '';
      logger.info({}, 'stream ended');
    } catch (error) {
      const { reason, message } =
        error instanceof AppError ? error : new AppError('internal', 'an unknown error', { cause: error });
      this.#problem = message;
      logger.warn({ reason, problem: message }, 'stream lost');
      if (reason === hostRevokedReason) return 'revoked';
      this.#askedMs = pushbackMsOf(error) ?? 0;
    } finally {
      this.session = undefined;
      this.#client = undefined;
      this.#since = clock.now();
    }
    this.#failures = clock.steadyMs() - began > lastingMs ? 0 : this.#failures + 1;
    return 'ended';
  }

  /** No shorter than the relay has asked for. */
  async #pause(stop: AbortSignal): Promise<void> {
    const { clock, logger, chance } = this.#deps;
    const pauseMs = Math.round(this.#askedMs + fullJitter(daemonLimits.backoff, this.#failures, chance()));
    this.#askedMs = 0;
    this.#againAt = clock.steadyMs() + pauseMs;
    logger.info({ pauseMs }, 'pause before the next stream');
    await clock.sleep(pauseMs, stop);
  }

  #sessionDeps() {
    const { identity, tools, config } = this.#deps;
    return {
      ...this.#deps,
      nodeId: identity.nodeId,
      relayKey: pinnedKeys(identity).relay,
      heartbeatMs: () => this.#credential.heartbeatMs ?? identity.heartbeatMs,
      credential: () => this.#credential,
      executor: this.#executor,
      capabilities: () => capabilitiesOf(tools.names, config.current),
      onShutdown: () => {
        this.#isShutdown = true;
      },
    };
  }

  /** Forgets old ids, and rotates the key of an open stream. */
  async #maintain(ended: AbortSignal): Promise<void> {
    const { clock, journal, logger } = this.#deps;
    while (!ended.aborted) {
      await clock.sleep(daemonLimits.lookMs, ended);
      if (ended.aborted) return;
      await journal.forget().catch((err: unknown) => logger.error({ err }, 'journal not cleared'));
      await this.#rotateWhenDue();
    }
  }

  /** One at a time: of two that ran at once, the later answer would save a key that the server holds no more. */
  #rotateWhenDue(): Promise<void> {
    this.#rotating ??= this.#rotateOnce().finally(() => {
      this.#rotating = undefined;
    });
    return this.#rotating;
  }

  /** A rotation that fails is tried again later; the token is good for as long again. */
  async #rotateOnce(): Promise<void> {
    const { clock, logger, identity, state } = this.#deps;
    const client = this.#client;
    const facts = { now: clock.now(), heldMs: clock.steadyMs() - this.#heldSince };
    if (client === undefined || !isRotationDue(this.#credential, facts)) return;
    try {
      const save = async (credential: HostCredential): Promise<void> => {
        await state.saveCredential(credential);
        this.#credential = credential;
      };
      await rotateKey({ clock, logger, nodeId: identity.nodeId, client, save }, this.#credential);
      this.#heldSince = clock.steadyMs();
    } catch (err) {
      logger.warn({ err }, 'key not rotated');
    }
  }
}

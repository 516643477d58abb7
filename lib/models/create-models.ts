import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Logger } from '../logger.ts';
import type { NodeConfig, NodeModel } from '../node-config/node-config.ts';
import { ownMember } from '../own-member.ts';
import { tryPaced } from '../retry.ts';
import { type Allowance, createAllowance } from './allowance.ts';
import { AttemptError } from './attempt-error.ts';
import { type Connection, createConnection } from './connection.ts';
import { modelLimits } from './limits.ts';
import { createModelMetrics, silentObserver } from './metrics.ts';
import { ModelError, type ModelLimits, type ModelReply, type ModelRequest, type Models } from './models.ts';
import { type ModelTarget, possibleTargets, type SelectionState, selectTargets, targetsOf } from './selection.ts';
import { unpricedOf } from './unpriced.ts';

interface ModelsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** From 0 to 1, for waits that differ from one replica to the next. */
  readonly random: () => number;
  /** Where requests are counted; absent: nowhere. */
  readonly registry?: Registry;
}

/** Every model of the node configuration. Packages of providers are loaded at the first request that needs them. */
export function createModels(deps: ModelsDeps, config: NodeConfig): Models {
  const observer = deps.registry === undefined ? silentObserver : createModelMetrics(deps.registry);
  const connections = new Map(
    config.llm_providers.map((provider) => [
      provider.name,
      createConnection({ clock: deps.clock, logger: deps.logger, observer, prices: config.prices }, provider),
    ]),
  );
  const turns = new Map<string, number>();
  const stateOf = ({ alias, tenant }: ModelRequest): SelectionState => ({
    turn: turns.get(alias) ?? 0,
    isAway: (name) => connections.get(name)?.isAwayFor(tenant) ?? true,
  });
  return {
    async ask(request) {
      request.signal.throwIfAborted();
      const { alias } = request;
      const targets = selectTargets(config, request, stateOf(request));
      // Later requests of an execution stay with its provider, and are no turns.
      if (request.provider === undefined) turns.set(alias, (turns.get(alias) ?? 0) + 1);
      const retrying = createRetrying(deps, config, createAllowance(request.withinMs));
      return await answerOf(targets, (target, patience) => {
        const connection = connections.get(target.provider.name);
        if (connection === undefined) throw new ModelError('ProviderGone', `no provider ${target.provider.name}`);
        return retrying({ connection, target, ...patience }, request);
      });
    },
    limitsOf: (alias, provider) => limitsOf(config, alias, provider),
  };
}

/** How long a request waits for one provider. */
type Patience = Pick<Way, 'turnMs' | 'isPatient'>;

const untilItsTurn: Patience = { turnMs: modelLimits.turnMs, isPatient: true };
/** For a provider with others behind it. */
const notLong: Patience = { turnMs: modelLimits.busyMs, isPatient: false };

type Ask = (target: ModelTarget, patience: Patience) => Promise<ModelReply>;

/** The provider only has no turn to give yet. */
class ProviderBusy extends ModelError {
  /** It failed several times in a row, and is left alone for a while. */
  readonly isResting: boolean;

  constructor({ failure, message }: ModelError, isResting: boolean) {
    super(failure, message);
    this.isResting = isResting;
  }
}

/** Failures after which another provider may do better. A conversation that is too long is not: its owner shortens it. */
const isWorthAnother = (error: unknown): boolean => error instanceof ModelError && error.failure !== 'ContextTooLong';

/**
 * The answer of the first target that gives one; else the failure of the last. Where there are several, one that is busy is left
 * after a short wait, and one that rests at once; where all others failed, they are waited for as a single target is.
 */
async function answerOf(targets: readonly ModelTarget[], ask: Ask): Promise<ModelReply> {
  if (targets.length <= 1) return await firstAnswer(targets, (target) => ask(target, untilItsTurn));
  const busy: ModelTarget[] = [];
  const resting: ModelTarget[] = [];
  try {
    return await firstAnswer(targets, async (target) => {
      try {
        return await ask(target, notLong);
      } catch (error) {
        if (error instanceof ProviderBusy) (error.isResting ? resting : busy).push(target);
        throw error;
      }
    });
  } catch (error) {
    const waitedFor = [...busy, ...resting];
    if (waitedFor.length === 0 || !isWorthAnother(error)) throw error;
    return await firstAnswer(waitedFor, (target) => ask(target, untilItsTurn));
  }
}

/** The answer of the first target that gives one; else the failure of the last. */
async function firstAnswer(
  targets: readonly ModelTarget[],
  ask: (target: ModelTarget) => Promise<ModelReply>,
): Promise<ModelReply> {
  const [target, ...others] = targets;
  if (target === undefined) throw new ModelError('UnknownAlias', 'no provider defines the model alias');
  try {
    return await ask(target);
  } catch (error) {
    if (others.length === 0 || !isWorthAnother(error)) throw error;
    return await firstAnswer(others, ask);
  }
}

interface Way {
  readonly connection: Connection;
  readonly target: ModelTarget;
  /** Longest wait for the turn, in milliseconds. */
  readonly turnMs: number;
  /** Whether to wait while the provider rests. */
  readonly isPatient: boolean;
}

type Retrying = (way: Way, request: ModelRequest) => Promise<ModelReply>;

/** Asks one provider, and again after failures that pass: `max_retries` times more (requirements AMB-091). */
function createRetrying(
  { clock, logger, random }: ModelsDeps,
  { llm_selection }: NodeConfig,
  allowance: Allowance,
): Retrying {
  const { max_retries: retries, retry_delay_ms: delayMs } = llm_selection;
  return ({ connection, target, ...patience }, request) => {
    const provider = target.provider.name;
    const pauseAfter = (error: unknown, attempt: number): number => {
      if (!(error instanceof AttemptError)) throw error;
      if (!error.isRetried || attempt > retries) throw failureOf(error, provider);
      const waitMs = waitBefore(attempt, { delayMs, random }, error.retryAfterMs);
      if (allowance.endsWithin(waitMs)) throw failureOf(error, provider);
      allowance.spend(waitMs);
      logger.warn({ provider, outcome: error.outcome, attempt, waitMs }, 'asking a model again');
      return waitMs;
    };
    const bounds = { ...patience, allowance };
    const sleep: Clock['sleep'] = async (ms, signal) => {
      using _wait = request.onWait?.({ provider, isResting: () => true });
      await clock.sleep(ms, signal);
    };
    const pace = { clock: { sleep }, pauseAfter, signal: request.signal };
    return tryPaced(pace, () => connection.ask(target, request, bounds));
  };
}

function failureOf(error: AttemptError, provider: string): ModelError {
  const failure = error.toModelError(provider);
  const isResting = error.outcome === 'overloaded';
  return isResting || error.outcome === 'busy' ? new ProviderBusy(failure, isResting) : failure;
}

interface Waits {
  readonly delayMs: number;
  readonly random: () => number;
}

/** How much of a wait is left to chance. */
const spread = 0.2;

/**
 * Wait before the next attempt. It is twice as long each time, and a little more, so that replicas do not return
 * together. Where the provider asks for a longer wait, it is that. Never more than our own bound.
 */
export function waitBefore(attempt: number, { delayMs, random }: Waits, retryAfterMs = 0): number {
  const own = delayMs * 2 ** (attempt - 1) * (1 + spread * random());
  return Math.min(Math.max(Math.round(own), retryAfterMs), modelLimits.retryWaitMs);
}

/** Without a provider, what holds whichever of them answers. */
function limitsOf(config: NodeConfig, alias: string, provider?: string): ModelLimits | undefined {
  const targets =
    provider === undefined
      ? possibleTargets(config, alias)
      : targetsOf(config, alias).filter((target) => target.provider.name === provider);
  const models = targets.map(({ model }) => model);
  if (models.length === 0) return undefined;
  const windows = models.flatMap(({ context_window: tokens }) => (tokens === undefined ? [] : [tokens]));
  const contextWindow = windows.length === 0 ? undefined : Math.min(...windows);
  const outputs = models.map(({ max_output_tokens: tokens }) => tokens);
  return {
    // An answer leaves half of the window to the conversation, whose start would otherwise be left out.
    maxOutputTokens: Math.max(1, Math.min(...outputs, Math.floor((contextWindow ?? Number.POSITIVE_INFINITY) / 2))),
    ...defined({ contextWindow }),
    ...pricesOf(config, models),
  };
}

function pricesOf({ prices }: NodeConfig, models: readonly NodeModel[]): Pick<ModelLimits, 'price' | 'unpriced'> {
  const known = models.flatMap(({ model }) => ownMember(prices, model) ?? []);
  const price = {
    input_per_million: Math.max(...known.map(({ input_per_million: usd }) => usd)),
    output_per_million: Math.max(...known.map(({ output_per_million: usd }) => usd)),
  };
  return defined({ price: known.length === 0 ? undefined : price, unpriced: unpricedOf(prices, models) });
}

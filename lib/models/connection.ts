import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { createFairPool, type FairPool, type PoolPart } from '../fair-pool.ts';
import type { Logger } from '../logger.ts';
import type { LlmProvider, NodeConfig, ProviderType } from '../node-config/node-config.ts';
import type { Allowance } from './allowance.ts';
import { openAnthropic } from './anthropic.ts';
import { AttemptError } from './attempt-error.ts';
import { type Breaker, createBreaker, type ModelTurn } from './breaker.ts';
import { costOf, estimatedTokens, lengthOfDefinitions, textOfMessages } from './cost.ts';
import { openExchange } from './exchange.ts';
import { modelLimits } from './limits.ts';
import type { ModelLimit, ModelObserver, RequestOutcome } from './metrics.ts';
import type { ModelReply, ModelRequest } from './models.ts';
import { openOllama } from './ollama.ts';
import { openOpenAi } from './openai.ts';
import { createReplyCollector, type WireReply } from './reply-collector.ts';
import type { ModelTarget } from './selection.ts';
import { createTokenWindow, type TokenReservation, type TokenWindow } from './token-window.ts';
import { createToolNames, encodeMessage, type ToolNames } from './tool-names.ts';
import type { OpenWire, Wire, WireRequest } from './wire.ts';

/** Bounds of one attempt. */
interface AttemptBounds {
  /** Longest wait for the turn, in milliseconds. */
  readonly turnMs: number;
  /** Whether to wait while the provider rests; else it fails at once. */
  readonly isPatient: boolean;
  /** Time of the answer, from the turn on. */
  readonly allowance: Allowance;
}

/** One provider, as this process reaches it. */
export interface Connection {
  /**
   * Asks once, in the turn of the tenant. @throws AttemptError; `TimeoutError` where the allowance is spent; the reason of the
   * signal where it aborts.
   */
  ask(target: ModelTarget, request: ModelRequest, bounds: AttemptBounds): Promise<ModelReply>;
  /** Questions of the tenant wait, since the provider failed several times in a row. */
  isAwayFor(tenant: string): boolean;
}

interface ConnectionDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: ModelObserver;
  readonly prices: NodeConfig['prices'];
}

/** One question to one model. */
interface Asking {
  readonly target: ModelTarget;
  readonly request: ModelRequest;
}

interface Sending extends Asking {
  readonly turn: ModelTurn;
  readonly reserved: TokenReservation | undefined;
}

interface Exchanging extends Asking {
  /** Called when the answer begins. */
  readonly begun: () => void;
}

const openers: Readonly<Record<ProviderType, OpenWire>> = {
  openai: openOpenAi,
  anthropic: openAnthropic,
  ollama: openOllama,
};

export function createConnection(deps: ConnectionDeps, provider: LlmProvider): Connection {
  return new SharedConnection(deps, provider);
}

class SharedConnection implements Connection {
  readonly #deps: ConnectionDeps;
  readonly #provider: LlmProvider;
  readonly #pool: FairPool;
  /** Undefined: the provider has no such limit. */
  readonly #tokens: TokenWindow | undefined;
  readonly #breaker: Breaker;
  #wire: Promise<Wire> | undefined;

  constructor(deps: ConnectionDeps, provider: LlmProvider) {
    this.#deps = deps;
    this.#provider = provider;
    this.#breaker = createBreaker(deps.clock, (isResting, tenant) => {
      const note = isResting
        ? 'questions wait: the provider failed several times in a row'
        : 'the provider answers again';
      deps.logger.warn({ provider: provider.name, ...(tenant !== undefined && { tenant }) }, note);
    });
    deps.observer.rests(provider.name, () => this.#breaker.waiting);
    const { tokens_per_minute: perMinute } = provider;
    this.#tokens = perMinute === undefined ? undefined : createTokenWindow(deps.clock, perMinute);
    deps.observer.counts(provider.name, () => this.#tokens?.counted ?? 0);
    this.#pool = createFairPool({
      size: provider.max_concurrency,
      waiting: modelLimits.waiting,
      waitMs: modelLimits.turnMs,
      clock: deps.clock,
    });
  }

  isAwayFor(tenant: string): boolean {
    return this.#breaker.isOpenFor(tenant);
  }

  async ask(target: ModelTarget, request: ModelRequest, bounds: AttemptBounds): Promise<ModelReply> {
    const until = this.#deps.clock.steadyMs() + bounds.turnMs;
    for (;;) {
      using turn = await this.#rested(request, bounds);
      // Tokens come first: a request that waits for them keeps no other one from its place.
      using reserved = await this.#reserve(target, request, until);
      using _place = await this.#placed(request, until);
      // It may have failed for others while this one waited, or the trial may be that of another one.
      if (turn.isValid) return await this.#send({ target, request, turn, reserved }, bounds.allowance);
    }
  }

  async #send({ target, request, turn, reserved }: Sending, allowance: Allowance): Promise<ModelReply> {
    const started = this.#deps.clock.steadyMs();
    try {
      const begun = (): void => turn.begun();
      const reply = this.#priced(target, request, await this.#exchange({ target, request, begun }, allowance));
      turn.answered();
      reserved?.settle(reply.input_tokens + reply.output_tokens, started);
      this.#observe('ok', started);
      this.#deps.observer.answered(reply);
      return reply;
    } catch (error) {
      settle(turn, error);
      // The provider may have read all of it.
      reserved?.settle(inputOf(request), started);
      throw this.#observed(error, started);
    }
  }

  /** Waits while the provider rests; a resting one has no turn to give. */
  async #rested(request: ModelRequest, { isPatient }: AttemptBounds): Promise<ModelTurn> {
    const mustWait = this.#breaker.isOpenFor(request.tenant);
    if (!isPatient && mustWait) throw this.#observed(isResting(), this.#deps.clock.steadyMs());
    return mustWait
      ? this.#waited('rest', request, (entry) => this.#breaker.enter(entry))
      : this.#breaker.enter(request);
  }

  async #placed(request: ModelRequest, until: number): Promise<PoolPart> {
    const waitMs = Math.max(0, until - this.#deps.clock.steadyMs());
    return this.#waited('concurrency', request, ({ tenant, signal }) => this.#pool.enter({ tenant, signal, waitMs }));
  }

  /** Tokens of the conversation and of the longest answer; what is not used is given back with the answer. */
  async #reserve({ model }: ModelTarget, request: ModelRequest, until: number): Promise<TokenReservation | undefined> {
    const window = this.#tokens;
    if (window === undefined) return undefined;
    const waitMs = Math.max(0, until - this.#deps.clock.steadyMs());
    const tokens = inputOf(request) + outputBound(model, request);
    return this.#waited('tokens', request, ({ tenant, signal }) => window.reserve({ tenant, tokens, signal, waitMs }));
  }

  async #waited<T>(limit: ModelLimit, request: ModelRequest, enter: (request: ModelRequest) => Promise<T>): Promise<T> {
    const { clock, observer } = this.#deps;
    const begun = clock.steadyMs();
    try {
      return await enter(request);
    } catch (error) {
      if (!(error instanceof AppError) || request.signal.aborted) throw error;
      throw this.#observed(new AttemptError('busy', `is busy: ${error.message}`), clock.steadyMs());
    } finally {
      observer.waited(this.#provider.name, limit, clock.steadyMs() - begun);
    }
  }

  #observe(outcome: RequestOutcome, started: number): void {
    this.#deps.observer.requested(this.#provider.name, outcome, this.#deps.clock.steadyMs() - started);
  }

  #observed(error: unknown, started: number): unknown {
    this.#observe(error instanceof AttemptError ? error.outcome : 'aborted', started);
    return error;
  }

  async #exchange({ target, request, begun }: Exchanging, allowance: Allowance): Promise<WireReply> {
    const { clock } = this.#deps;
    this.#wire ??= openers[this.#provider.type](this.#provider);
    const wire = await this.#wire;
    const { isCallers } = allowance;
    using deadline = startDeadline(clock, allowance.attemptMs, request.signal);
    using _running = allowance.running(clock);
    const { signal } = deadline;
    using exchange = openExchange({ clock, signal, begun, key: this.#provider.api_key, checkLine: wire.checkLine });
    const names = createToolNames(request.tools, request.messages);
    const idPrefix = `call_${request.messages.length}_`;
    const collector = createReplyCollector({ onText: request.onText, idPrefix });
    try {
      await wire.ask(toWireRequest(target, request, names), exchange, collector);
      // The packages end a stream that was aborted as if it were complete.
      exchange.signal.throwIfAborted();
      return decoded(collector.finish(), names);
    } catch (error) {
      request.signal.throwIfAborted();
      if (signal.aborted) throw isCallers ? signal.reason : outOfTime();
      throw exchange.failure ?? asAttemptError(error);
    }
  }

  #priced({ model }: ModelTarget, request: ModelRequest, reply: WireReply): ModelReply {
    const input = reply.input_tokens ?? inputOf(request);
    const written = (): string => reply.content + reply.tool_calls.map((call) => call.name + call.arguments).join('');
    const output = reply.output_tokens ?? estimatedTokens(written().length);
    const cost = costOf(this.#deps.prices, model.model, { input, output });
    return {
      content: reply.content,
      tool_calls: reply.tool_calls,
      stop: reply.stop,
      provider: this.#provider.name,
      model: reply.model ?? model.model,
      input_tokens: input,
      output_tokens: output,
      ...(cost !== undefined && { cost_usd: cost }),
    };
  }
}

/** As far as it can be known before the provider has counted. */
const inputOf = (request: ModelRequest): number =>
  estimatedTokens(textOfMessages(request.messages).length + lengthOfDefinitions(request));

const outputBound = (
  { max_output_tokens: most }: ModelTarget['model'],
  { maxOutputTokens = most }: ModelRequest,
): number => Math.min(maxOutputTokens, most);

function toWireRequest({ model }: ModelTarget, request: ModelRequest, names: ToolNames): WireRequest {
  const { messages, tools, outputSchema } = request;
  return {
    model: model.model,
    messages: messages.map((message) => encodeMessage(message, names)),
    tools: tools.map((tool) => ({ ...tool, name: names.encode(tool.name) })),
    maxOutputTokens: outputBound(model, request),
    contextWindow: model.context_window,
    outputSchema,
  };
}

const decoded = (reply: WireReply, names: ToolNames): WireReply => ({
  ...reply,
  tool_calls: reply.tool_calls.map((call) => ({ ...call, name: names.decode(call.name) })),
});

/** Tells the circuit breaker how a request ended. */
function settle(turn: ModelTurn, error: unknown): void {
  // The caller gave up: nothing was learned.
  if (!(error instanceof AttemptError)) return;
  if (error.isOutage) turn.failed();
  else turn.answered();
}

/** A package's own exception is about an answer that it cannot read; its words may hold parts of that. */
const asAttemptError = (error: unknown): AttemptError =>
  error instanceof AttemptError ? error : new AttemptError('malformed', 'sent an answer that cannot be read');

const outOfTime = (): AttemptError =>
  new AttemptError('timeout', `did not finish its answer within ${modelLimits.requestMs / 1_000} seconds`);

const isResting = (): AttemptError =>
  new AttemptError('overloaded', `failed ${modelLimits.breakerFailures} times in a row and is left alone for a while`);

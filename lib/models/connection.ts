import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { LlmProvider, NodeConfig, ProviderType } from '../node-config/node-config.ts';
import type { Allowance } from './allowance.ts';
import { openAnthropic } from './anthropic.ts';
import { AttemptError } from './attempt-error.ts';
import { costOf, estimatedTokens, lengthOfDefinitions, textOfMessages } from './cost.ts';
import { openExchange } from './exchange.ts';
import { modelLimits } from './limits.ts';
import type { ModelObserver, RequestOutcome } from './metrics.ts';
import type { ModelReply, ModelRequest } from './models.ts';
import { openOllama } from './ollama.ts';
import { openOpenAi } from './openai.ts';
import { asOurs, EndedByUs, framesOf, meaningOf, OwnFault } from './own-fault.ts';
import { createReplyCollector, type WireReply } from './reply-collector.ts';
import type { ModelTarget } from './selection.ts';
import { createToolNames, encodeMessage, type ToolNames } from './tool-names.ts';
import { createProviderTurns, type QuestionTurn, type ProviderTurns } from './turns.ts';
import type { WaitedMs } from './wait-times.ts';
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
   * signal where it aborts; AppError `InternalError` or `ReplicaShort` for what is no doing of the provider or its connection.
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
  readonly turn: QuestionTurn;
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
  readonly #turns: ProviderTurns;
  #wire: Promise<Wire> | undefined;

  constructor(deps: ConnectionDeps, provider: LlmProvider) {
    this.#deps = deps;
    this.#provider = provider;
    const { name, max_concurrency: places, tokens_per_minute: perMinute } = provider;
    const onRest = (isResting: boolean, tenant?: string): void => {
      const note = isResting
        ? 'questions wait: the provider failed several times in a row'
        : 'the provider answers again';
      deps.logger.warn({ provider: name, ...(tenant !== undefined && { tenant }) }, note);
    };
    const onWaited = (ms: WaitedMs): void => this.#waited(ms);
    this.#turns = createProviderTurns({ clock: deps.clock, places, perMinute, onRest, onWaited });
    deps.observer.rests(name, () => this.#turns.resting);
    deps.observer.counts(name, () => this.#turns.counted);
  }

  isAwayFor(tenant: string): boolean {
    return this.#turns.isAwayFor(tenant);
  }

  async ask(target: ModelTarget, request: ModelRequest, bounds: AttemptBounds): Promise<ModelReply> {
    const isLeft = !bounds.isPatient && this.isAwayFor(request.tenant);
    if (isLeft) throw this.#observed(isResting(), this.#deps.clock.steadyMs());
    using turn = await this.#turn(target, request, bounds);
    return await this.#send({ target, request, turn }, bounds.allowance);
  }

  /** With tokens of the conversation and of the longest answer; what is not used is given back with the answer. */
  async #turn({ model }: ModelTarget, request: ModelRequest, bounds: AttemptBounds): Promise<QuestionTurn> {
    const { tenant, signal } = request;
    const tokens = this.#ours(() => inputOf(request) + outputBound(model, request));
    using _wait = request.onWait?.({ provider: this.#provider.name, isResting: () => this.isAwayFor(tenant) });
    try {
      return await this.#turns.enter({ tenant, tokens, signal, waitMs: bounds.turnMs });
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error;
      // It may have begun to rest since.
      const isLeft = !bounds.isPatient && this.isAwayFor(tenant);
      const failure = isLeft ? isResting() : new AttemptError('busy', `is busy: ${error.message}`);
      throw this.#observed(failure, this.#deps.clock.steadyMs());
    }
  }

  async #send({ target, request, turn }: Sending, allowance: Allowance): Promise<ModelReply> {
    const started = this.#deps.clock.steadyMs();
    try {
      const begun = (): void => turn.begun();
      const reply = await this.#exchange({ target, request, begun }, allowance);
      turn.answered();
      turn.settle(reply.input_tokens + reply.output_tokens, started);
      this.#observe('ok', started);
      this.#deps.observer.answered(reply);
      return reply;
    } catch (error) {
      settle(turn, error);
      // The provider may have read all of it.
      turn.settle(inputOf(request), started);
      throw this.#observed(error, started);
    }
  }

  #ours<T>(run: () => T): T {
    try {
      return asOurs(run);
    } catch (error) {
      const ended = error instanceof OwnFault ? this.#endedByUs(error) : error;
      throw this.#observed(ended, this.#deps.clock.steadyMs());
    }
  }

  #waited({ rest, tokens, concurrency }: WaitedMs): void {
    const { name, tokens_per_minute: perMinute } = this.#provider;
    const { observer } = this.#deps;
    observer.waited(name, 'concurrency', concurrency);
    if (perMinute !== undefined) observer.waited(name, 'tokens', tokens);
    if (rest > 0) observer.waited(name, 'rest', rest);
  }

  #observe(outcome: RequestOutcome, started: number): void {
    this.#deps.observer.requested(this.#provider.name, outcome, this.#deps.clock.steadyMs() - started);
  }

  #observed(error: unknown, started: number): unknown {
    this.#observe(outcomeOf(error), started);
    return error;
  }

  async #exchange({ target, request, begun }: Exchanging, allowance: Allowance): Promise<ModelReply> {
    const { clock } = this.#deps;
    const wire = await this.#opened();
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
      return asOurs(() => this.#priced(target, request, decoded(collector.finish(), names)));
    } catch (error) {
      request.signal.throwIfAborted();
      if (signal.aborted) throw isCallers ? signal.reason : outOfTime();
      const meaning = meaningOf(error, exchange);
      throw meaning instanceof AttemptError ? meaning : this.#endedByUs(meaning);
    }
  }

  /** The package of the provider. One that could not be loaded is tried again by the next question. */
  async #opened(): Promise<Wire> {
    const opened = (this.#wire ??= openers[this.#provider.type](this.#provider));
    try {
      return await opened;
    } catch (error) {
      if (this.#wire === opened) this.#wire = undefined;
      throw this.#endedByUs(new OwnFault(error));
    }
  }

  #endedByUs(fault: OwnFault): EndedByUs {
    const { name } = this.#provider;
    const ended = new EndedByUs(name, fault);
    this.#deps.logger.error(
      { provider: name, reason: ended.reason, at: framesOf(fault.cause) },
      'question to a model failed here',
    );
    return ended;
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
function settle(turn: QuestionTurn, error: unknown): void {
  // The caller gave up: nothing was learned.
  if (!(error instanceof AttemptError)) return;
  if (error.isOutage) turn.failed();
  else turn.answered();
}

function outcomeOf(error: unknown): RequestOutcome {
  if (error instanceof AttemptError) return error.outcome;
  return error instanceof EndedByUs ? 'internal' : 'aborted';
}

const outOfTime = (): AttemptError =>
  new AttemptError('timeout', `did not finish its answer within ${modelLimits.requestMs / 1_000} seconds`);

const isResting = (): AttemptError =>
  new AttemptError('overloaded', `failed ${modelLimits.breakerFailures} times in a row and is left alone for a while`);

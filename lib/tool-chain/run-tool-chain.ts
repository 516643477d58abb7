import type { ToolStep } from '../../crds/schema/tool-workflow.ts';
import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { AppError, messageOf } from '../errors.ts';
import { valueCost } from '../http/json-cost.ts';
import type { Logger } from '../logger.ts';
import { UpstreamError } from '../upstream/index.ts';
import { extract } from './extract.ts';
import { jsonBytes } from './json-bytes.ts';
import { freeBytes, type HeldResponse, KeptResponses } from './kept-responses.ts';
import { answerLimits, type ChainLimits } from './limits.ts';
import { readResponse } from './read-response.ts';
import type { ReadInTurn } from './reading-turns.ts';
import { type BodyContext, renderBody } from './render-body.ts';
import { StepFailure } from './step-failure.ts';

/** One request of a chain. */
interface ChainRequest {
  readonly operationId: string;
  readonly body: string;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** Sends one attempt. Throws UpstreamError where no whole response came. */
export type SendStep = (request: ChainRequest) => Promise<ChainResponse>;

interface ChainResponse {
  readonly status: number;
  readonly body: Buffer;
  /** Taken out of the body before anything is read of it. Default: none. */
  readonly secrets?: readonly string[];
  /** False where the method asks for none. Default: true. */
  readonly hasBody?: boolean;
  /** Memory that is counted for it, until its values are let go. */
  readonly held?: HeldResponse;
}

/** Hears of every step. A rejection ends the chain: it refuses to act unaudited. */
export interface ChainObserver {
  /** A step begins: its body is not rendered yet. */
  stepReached(step: string): void;
  /** Before each attempt leaves the process; attempts count from 1. */
  stepStarted(step: string, attempt: number): Promise<void>;
  /** Once for each step that received an HTTP response, success or not (spec 3 §6). */
  stepExecuted(step: string, outcome: ChainStepOutcome): Promise<void>;
}

/** The last response of a step, and the time of all its attempts in milliseconds. */
interface ChainStepOutcome {
  readonly status: number;
  readonly durationMs: number;
  readonly attempts: number;
}

interface ChainDeps {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  readonly limits: ChainLimits;
  readonly send: SendStep;
  readonly observer: ChainObserver;
  readonly inTurn: ReadInTurn;
}

/** Result of a chain: `state` has flat keys `STEP.VARIABLE`. */
export type ChainOutcome =
  | { readonly kind: 'completed'; readonly result: unknown; readonly state: Readonly<Record<string, unknown>> }
  | { readonly kind: 'failed'; readonly step: string; readonly reason: string };

/**
 * Runs the steps in their order, each invocation with a state of its own (spec 3 §1.4). The steps are those that it was
 * given at the start, whatever becomes of their definition. `input` has been validated.
 * @throws AppError `invalid` with reason `Validation` where a body does not render to JSON, whatever `on_error` says
 * (requirements AMB-128); `cancelled` with the caller; what the observer throws.
 */
export async function runToolChain(
  deps: ChainDeps,
  steps: readonly ToolStep[],
  input: unknown,
  context: { readonly signal: AbortSignal },
): Promise<ChainOutcome> {
  using deadline = startDeadline(deps.clock, deps.limits.chainMs, context.signal);
  using chain = new Chain(deps, input, deadline.signal);
  for (const step of steps) {
    const failure = await chain.run(step);
    if (context.signal.aborted) throw new AppError('cancelled', 'the call was cancelled', { reason: 'Cancelled' });
    if (deadline.signal.aborted)
      return { kind: 'failed', step: step.name, reason: 'the time of the whole chain is up' };
    if (failure === undefined) continue;
    if (step.on_error !== 'Continue') return { kind: 'failed', step: step.name, reason: failure.message };
    deps.logger.warn({ step: step.name, reason: failure.message }, 'step of a tool workflow failed, the next one runs');
  }
  return chain.outcome;
}

interface Attempt {
  readonly status?: number;
  readonly failure?: Error;
}

class Chain {
  #result: { readonly step: string; readonly value: unknown } | undefined;
  readonly #state: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  #stateBytes = 0;
  readonly #kept = new KeptResponses();
  readonly #deps: ChainDeps;
  readonly #signal: AbortSignal;
  readonly #context: BodyContext & { readonly state: Record<string, unknown> };

  constructor(deps: ChainDeps, input: unknown, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.#context = { input, state: Object.assign(Object.create(null) as Record<string, unknown>, { input }) };
  }

  /** Failed at the step of the result where the answer would be too large. */
  get outcome(): ChainOutcome {
    const { value: result = null, step = '' } = this.#result ?? {};
    const room = answerLimits.bytes - this.#stateBytes;
    if (jsonBytes(result, room) > room) {
      const reason = `the result and the state have more than ${answerLimits.bytes} bytes of JSON; ask for less`;
      return { kind: 'failed', step, reason };
    }
    return { kind: 'completed', result, state: this.#state };
  }

  /** Why the step failed, in words for the author; undefined where it succeeded. */
  async run(step: ToolStep): Promise<Error | undefined> {
    this.#deps.observer.stepReached(step.name);
    const body = this.#render(step);
    const attemptsMax = typeof step.on_error === 'object' ? step.on_error.RetryN + 1 : 1;
    const started = this.#deps.clock.now();
    let status: number | undefined;
    let failure: Error | undefined;
    let attempts = 0;
    while (attempts < attemptsMax && !this.#signal.aborted) {
      attempts += 1;
      await this.#deps.observer.stepStarted(step.name, attempts);
      const attempt = await this.#attempt(step, body);
      status = attempt.status ?? status;
      failure = attempt.failure;
      if (failure === undefined) break;
    }
    if (status !== undefined) {
      const durationMs = Math.max(0, this.#deps.clock.now() - started);
      await this.#deps.observer.stepExecuted(step.name, { status, durationMs, attempts });
    }
    return failure;
  }

  async #attempt(step: ToolStep, body: string): Promise<Attempt> {
    using deadline = startDeadline(this.#deps.clock, this.#deps.limits.stepMs, this.#signal);
    let status: number | undefined;
    try {
      const request = { operationId: step.operation_id, body, signal: deadline.signal };
      const response = await this.#deps.send(request);
      ({ status } = response);
      await this.#takeOrLetGo(step, response, deadline.signal);
      return { status };
    } catch (failure) {
      if (failure instanceof StepFailure) return { ...(status !== undefined && { status }), failure };
      if (!(failure instanceof UpstreamError)) throw failure;
      return { ...(failure.status !== undefined && { status: failure.status }), failure };
    }
  }

  /** Its values are kept as the result until another response replaces them; its text is not. */
  async #takeOrLetGo(step: ToolStep, response: ChainResponse, signal: AbortSignal): Promise<void> {
    const { held } = response;
    try {
      const costs = await this.#take(step, response, signal);
      this.#kept.replace({ held, ...costs });
    } catch (error) {
      held?.[Symbol.dispose]();
      throw error;
    }
  }

  /** Nothing of its responses is needed any more. */
  [Symbol.dispose](): void {
    this.#kept[Symbol.dispose]();
  }

  /** Bytes of heap of all values of the response, and of those that its extractors take. */
  async #take(
    step: ToolStep,
    response: ChainResponse,
    signal: AbortSignal,
  ): Promise<{ readonly cost: number; readonly extracted: number }> {
    const hold = (bytes: number): Promise<void> => this.#kept.take(response.held, bytes);
    const parsed = await readResponse(response, { inTurn: this.#deps.inTurn, signal, hold });
    const variables: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    let left = answerLimits.stateBytes - this.#stateBytes;
    for (const [variable, expression] of Object.entries(step.extractors ?? {})) {
      const found = await parsed.extract(expression, extract);
      if (found === undefined) continue;
      left -= jsonBytes(found.value, left);
      if (left < 0) {
        throw new StepFailure(
          `the extracted values of all steps have more than ${answerLimits.stateBytes} bytes of JSON; extract less`,
        );
      }
      variables[variable] = found.value;
    }
    this.#result = { step: step.name, value: parsed.value };
    this.#stateBytes = answerLimits.stateBytes - left;
    this.#context.state[step.name] = variables;
    for (const [variable, value] of Object.entries(variables)) this.#state[`${step.name}.${variable}`] = value;
    return { cost: parsed.cost, extracted: extractedCost(Object.values(variables), parsed.cost) };
  }

  #render(step: ToolStep): string {
    const { name, body_template: source } = step;
    try {
      const text = renderBody(source, this.#context, this.#deps.limits.bodyBytes);
      JSON.parse(text);
      return text;
    } catch (error) {
      const why =
        error instanceof AppError
          ? messageOf(error)
          : 'the text is not valid JSON; look at its braces, commas and quotes, and at quotes in the inputs';
      throw new AppError('invalid', `step '${name}': body_template did not render valid JSON: ${why}`, {
        reason: 'Validation',
      });
    }
  }
}

/** They are parts of one response, and take no more than all of it. */
function extractedCost(values: readonly unknown[], whole: number): number {
  if (values.length === 0 || whole <= freeBytes) return 0;
  return valueCost(values, whole);
}

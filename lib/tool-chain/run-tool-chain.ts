import type { ToolStep } from '../../crds/schema/tool-workflow.ts';
import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { AppError, hasReason, messageOf } from '../errors.ts';
import { valueCost } from '../http/json-cost.ts';
import type { Logger } from '../logger.ts';
import { UpstreamError } from '../upstream/index.ts';
import type { KeptPart } from '../tools/web/upstream-room.ts';
import { extract } from './extract.ts';
import { jsonBytes } from './json-bytes.ts';
import { freeBytes, type HeldResponse, KeptResponses, lostResult } from './kept-responses.ts';
import { answerLimits, type ChainLimits } from './limits.ts';
import { type ParsedResponse, readResponse } from './read-response.ts';
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
  /** Counts what the call keeps between its steps. Default: nothing counts it. */
  readonly part?: KeptPart;
}

/** Result of a chain: `state` has flat keys `STEP.VARIABLE`. */
export type ChainOutcome =
  | {
      readonly kind: 'completed';
      /** Its JSON. */
      readonly result: Buffer;
      readonly state: Readonly<Record<string, unknown>>;
      /** The memory that is counted for both. The maker of the answer gives it back. */
      readonly held: Disposable;
    }
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
  using owned = new DisposableStack();
  const chain = owned.use(new Chain(deps, input, deadline.signal));
  for (const [index, step] of steps.entries()) {
    const failure = await chain.run(step, steps[index + 1]);
    if (context.signal.aborted) throw new AppError('cancelled', 'the call was cancelled', { reason: 'Cancelled' });
    if (deadline.signal.aborted)
      return { kind: 'failed', step: step.name, reason: 'the time of the whole chain is up' };
    if (failure === undefined) continue;
    if (step.on_error !== 'Continue') return { kind: 'failed', step: step.name, reason: failure.message };
    deps.logger.warn({ step: step.name, reason: failure.message }, 'step of a tool workflow failed, the next one runs');
  }
  const { outcome } = chain;
  if (outcome.kind === 'completed') owned.move();
  return outcome;
}

interface StepPlace {
  readonly step: ToolStep;
  /** Undefined for the last step. */
  readonly next: ToolStep | undefined;
}

interface Attempt {
  readonly status?: number;
  readonly failure?: Error;
}

class Chain implements Disposable {
  readonly #state: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  #stateBytes = 0;
  readonly #kept: KeptResponses;
  readonly #deps: ChainDeps;
  readonly #signal: AbortSignal;
  readonly #context: BodyContext & { readonly state: Record<string, unknown> };

  constructor(deps: ChainDeps, input: unknown, signal: AbortSignal) {
    this.#deps = deps;
    this.#kept = new KeptResponses(deps.part);
    this.#signal = signal;
    this.#context = { input, state: Object.assign(Object.create(null) as Record<string, unknown>, { input }) };
  }

  /** Failed at the step of the result where the answer would be too large. */
  get outcome(): ChainOutcome {
    const { text: result, step } = this.#kept.result ?? { text: Buffer.from('null'), step: '' };
    if (result === undefined) return { kind: 'failed', step, reason: lostResult };
    if (result.length + this.#stateBytes > answerLimits.bytes) {
      const reason = `the result and the state have more than ${answerLimits.bytes} bytes of JSON; ask for less`;
      return { kind: 'failed', step, reason };
    }
    return { kind: 'completed', result, state: this.#state, held: this };
  }

  /** Why the step failed, in words for the author; undefined where it succeeded. */
  async run(step: ToolStep, next: ToolStep | undefined): Promise<Error | undefined> {
    this.#deps.observer.stepReached(step.name);
    const body = this.#render(step);
    // Where this one fails the call does, else it has another result.
    if (step.on_error !== 'Continue') this.#kept.dropResult();
    const attemptsMax = typeof step.on_error === 'object' ? step.on_error.RetryN + 1 : 1;
    const started = this.#deps.clock.now();
    let status: number | undefined;
    let failure: Error | undefined;
    let attempts = 0;
    while (attempts < attemptsMax && !this.#signal.aborted) {
      attempts += 1;
      await this.#deps.observer.stepStarted(step.name, attempts);
      const attempt = await this.#attempt({ step, next }, body);
      status = attempt.status ?? status;
      failure = attempt.failure;
      if (failure === undefined || isOfGateway(failure)) break;
    }
    if (status !== undefined) {
      const durationMs = Math.max(0, this.#deps.clock.now() - started);
      await this.#deps.observer.stepExecuted(step.name, { status, durationMs, attempts });
    }
    return failure;
  }

  async #attempt(place: StepPlace, body: string): Promise<Attempt> {
    using deadline = startDeadline(this.#deps.clock, this.#deps.limits.stepMs, this.#signal);
    let status: number | undefined;
    try {
      const request = { operationId: place.step.operation_id, body, signal: deadline.signal };
      const response = await this.#deps.send(request);
      ({ status } = response);
      await this.#takeOrLetGo(place, response, deadline.signal);
      return { status };
    } catch (failure) {
      if (failure instanceof StepFailure) return { ...(status !== undefined && { status }), failure };
      if (!(failure instanceof UpstreamError)) throw failure;
      return { ...(failure.status !== undefined && { status: failure.status }), failure };
    }
  }

  /** The place of its response is kept where that is the last one. */
  async #takeOrLetGo(place: StepPlace, response: ChainResponse, signal: AbortSignal): Promise<void> {
    using owned = new DisposableStack();
    if (response.held !== undefined) owned.use(response.held);
    await this.#take(place, response, signal);
    if (place.next === undefined) owned.move();
  }

  /** Nothing of its responses is needed any more. */
  [Symbol.dispose](): void {
    this.#kept[Symbol.dispose]();
  }

  async #take({ step, next }: StepPlace, response: ChainResponse, signal: AbortSignal): Promise<void> {
    const extractors = Object.entries(step.extractors ?? {});
    const expressions = extractors.map(([, expression]) => expression);
    await readResponse(response, { inTurn: this.#deps.inTurn, signal, expressions }, async (parsed) => {
      const { variables, left } = await this.#extracted(extractors, parsed);
      const isLast = next === undefined;
      const isResult = isLast || next.on_error === 'Continue';
      const text = isResult ? await parsed.text() : undefined;
      const held = isLast ? response.held : undefined;
      this.#kept.add({
        extracted: extractedCost(Object.values(variables), parsed.cost),
        ...(text !== undefined && { result: { step: step.name, text, isLast, held } }),
      });
      this.#stateBytes = answerLimits.stateBytes - left;
      this.#context.state[step.name] = variables;
      for (const [variable, value] of Object.entries(variables)) this.#state[`${step.name}.${variable}`] = value;
    });
  }

  /** Values by variable, and the bytes of JSON that are left for others. */
  async #extracted(extractors: readonly (readonly [string, string])[], parsed: ParsedResponse) {
    const variables: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    let left = answerLimits.stateBytes - this.#stateBytes;
    for (const [variable, expression] of extractors) {
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
    return { variables, left };
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

/** A response has come: its request has been carried out. */
const isOfGateway = (failure: Error): boolean =>
  failure instanceof StepFailure ? failure.isOfGateway : hasReason(failure, 'Overloaded') && isAnswered(failure);

const isAnswered = (failure: AppError): boolean => failure instanceof UpstreamError && failure.status !== undefined;

/** They are parts of one response, and take no more than all of it. */
function extractedCost(values: readonly unknown[], whole: number): number {
  if (values.length === 0 || whole <= freeBytes) return 0;
  return valueCost(values, whole);
}

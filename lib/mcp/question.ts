import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { type Clock, runAfter } from '../clock.ts';
import { AppError } from '../errors.ts';
import { mcpLimits } from './limits.ts';

const current = new AsyncLocalStorage<Question>();

/** Bytes and values of JSON that an answer has at most. */
export interface AnswerSize {
  readonly bytes: number;
  readonly values: number;
}

/** Bounds of an answer that belongs to no beginning of a session. */
export const answerSize: AnswerSize = { bytes: mcpLimits.responseBytes, values: mcpLimits.values };

/** One question to a server, as its HTTP requests see it. */
export interface QuestionInHttp {
  /** Aborts requests that outlive the question. */
  readonly over: AbortSignal;
  /** Bounds of each answer. */
  readonly bounds: AnswerSize;
  /**
   * Says that a request begins. Call the result when its body has ended; a body that broke off ends the question.
   * @throws AppError `limit_exceeded` where too many are under way, which ends the question as well.
   */
  begin(): (failure?: unknown) => void;
}

/** The question for which the caller makes an HTTP request. */
export const currentQuestion = (): QuestionInHttp | undefined => current.getStore();

/**
 * Asks a server through the library, which joins messages with questions alone. The library waits on where an event
 * stream has ended without the answer. It keeps a request open that has brought the answer, or is not awaited any more.
 * `ask` gets a signal for the library. @throws the failure of the body that was to bring the answer, or what `ask`
 * throws.
 */
export async function inQuestion<T>(
  clock: Clock,
  outer: AbortSignal,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const question = new Question();
  try {
    return await during(question, clock, () => ask(AbortSignal.any([outer, question.broken])));
  } catch (error) {
    throw question.failure ?? error;
  }
}

/**
 * The same for the questions that begin a session, one after another, of which none ends with the body of another. The library
 * keeps their answers for as long as the session is.
 */
export const inGreeting = <T>(clock: Clock, ask: () => Promise<T>): Promise<T> =>
  during(new Question(mcpLimits.greeting), clock, ask);

async function during<T>(question: Question, clock: Clock, ask: () => Promise<T>): Promise<T> {
  try {
    return await current.run(question, ask);
  } finally {
    question.end(clock);
  }
}

/** An event stream that ended before it brought the answer. */
export const brokenOff = (): AppError =>
  new AppError('unavailable', 'the server ended its events before it answered', { reason: 'NetworkError' });

/** The library answers each question of a server at once, and one stream has room for thousands. */
const asksTooMuch = (): AppError =>
  new AppError('limit_exceeded', 'the server asks more questions than it takes answers', {
    reason: 'TooManyQuestions',
  });

class Question implements QuestionInHttp {
  failure: unknown;
  readonly bounds: AnswerSize;
  readonly #broken = new AbortController();
  readonly #over = new AbortController();
  #open = 0;
  #callOff: () => void = () => undefined;

  constructor(bounds = answerSize) {
    this.bounds = bounds;
  }

  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  begin(): (failure?: unknown) => void {
    if (this.#open === mcpLimits.requestsPerCall) {
      const failure = asksTooMuch();
      void this.#fail(failure);
      throw failure;
    }
    this.#open += 1;
    return (failure) => {
      this.#open -= 1;
      if (this.#open === 0) this.#callOff();
      if (failure !== undefined) void this.#fail(failure);
    };
  }

  /** A server ends a stream behind its answer, and may still get word of a cancellation. */
  end(clock: Clock): void {
    if (this.#open > 0) this.#callOff = runAfter(clock, mcpLimits.afterAnswerMs, () => this.#over.abort('over'));
  }

  /** The library has read by the next turn what came before, which may be the answer. */
  async #fail(failure: unknown): Promise<void> {
    await setImmediate();
    this.failure = failure;
    this.#broken.abort('broken off');
  }
}

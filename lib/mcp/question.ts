import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { type Clock, runAfter } from '../clock.ts';
import { AppError } from '../errors.ts';
import { mcpLimits } from './limits.ts';

const current = new AsyncLocalStorage<Question>();

/** One question to a server, as its HTTP requests see it. */
export interface QuestionInHttp {
  /** Aborts requests that outlive the question. */
  readonly over: AbortSignal;
  /** Says that a request begins. Call the result when its body has ended; a body that broke off ends the question. */
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

/** The same for several questions one after another, of which none ends with the body of another. */
export const inQuestions = <T>(clock: Clock, ask: () => Promise<T>): Promise<T> => during(new Question(), clock, ask);

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

class Question implements QuestionInHttp {
  failure: unknown;
  readonly #broken = new AbortController();
  readonly #over = new AbortController();
  #open = 0;
  #callOff: () => void = () => undefined;

  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  begin(): (failure?: unknown) => void {
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

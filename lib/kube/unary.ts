import type { Dispatcher } from 'undici';
import { AppError } from '../errors.ts';
import { answerTooLarge } from './list-pages.ts';

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface UnaryOptions {
  readonly signal: AbortSignal;
  /** Called with the request next in line on a live connection, directly before its first byte is written. */
  readonly guard?: () => void;
  /** A longer answer is cut off and rejected with AppError `AnswerTooLarge`. */
  readonly answerBytes?: number | undefined;
}

/**
 * One request, one answer, no repetition. Rejects with what `guard` threw (then nothing was sent), with the signal's
 * reason, or with the connection's error. A request that still waits for a connection when the signal aborts is
 * never sent.
 */
export function sendOnce(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  options: UnaryOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { signal } = options;
    if (signal.aborted) return reject(signal.reason);
    const exchange = new Exchange(options, {
      resolve: (answer) => {
        signal.removeEventListener('abort', abort);
        resolve(answer);
      },
      reject: (error) => {
        signal.removeEventListener('abort', abort);
        reject(error);
      },
    });
    const abort = (): void => exchange.abort();
    signal.addEventListener('abort', abort, { once: true });
    dispatcher.dispatch(request, exchange);
  });
}

interface Ending {
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: UnaryOptions;
  readonly #ending: Ending;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #bytes = 0;
  #status = 0;
  #headers: Answer['headers'] = {};

  constructor(options: UnaryOptions, ending: Ending) {
    this.#options = options;
    this.#ending = ending;
  }

  abort(): void {
    const { reason } = this.#options.signal;
    this.#ending.reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error(String(reason)));
  }

  /** Throwing here drops the request and keeps the connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#options.signal.throwIfAborted();
    this.#options.guard?.();
    this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Answer['headers']): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { answerBytes = Number.POSITIVE_INFINITY } = this.#options;
    this.#bytes += chunk.byteLength;
    if (this.#bytes <= answerBytes) return void this.#chunks.push(chunk);
    const error = new AppError('limit_exceeded', `the answer has more than ${answerBytes} bytes`, {
      reason: answerTooLarge,
    });
    this.#chunks.length = 0;
    this.#ending.reject(error);
    controller.abort(error);
  }

  onResponseEnd(): void {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    this.#ending.resolve({ status: this.#status, headers: this.#headers, text });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#ending.reject(error);
  }
}

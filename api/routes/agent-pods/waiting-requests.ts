import { HttpError } from '../../../lib/http/http-error.ts';

/** Requests of one execution that wait at once. A bootstrap sends one; a new one may overlap with the old one's. */
const mostWaiting = 4;

/** Counts the requests of pods that wait for a command: a request is held for as long as its caller stays. */
export class WaitingRequests {
  readonly #counts = new Map<string, number>();

  /** @throws HttpError 429 where the execution has as many as it may have. Dispose of the place behind the answer. */
  enter(executionId: string): Disposable {
    const count = this.#counts.get(executionId) ?? 0;
    if (count >= mostWaiting) {
      const message = `${mostWaiting} requests of this execution wait already; send one at a time`;
      const headers = { 'Retry-After': '1' };
      throw new HttpError({ code: 'limit_exceeded', status: 429, error: 'rate_limited', message, headers });
    }
    this.#counts.set(executionId, count + 1);
    return { [Symbol.dispose]: () => this.#leave(executionId) };
  }

  #leave(executionId: string): void {
    const left = (this.#counts.get(executionId) ?? 1) - 1;
    if (left === 0) this.#counts.delete(executionId);
    else this.#counts.set(executionId, left);
  }
}

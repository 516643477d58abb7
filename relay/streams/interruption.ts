/**
 * Cuts short the one promise that a loop awaits. `Promise.race` with a promise that lasts as long as the stream would keep a
 * reaction, and with it the message, for every turn of the loop.
 */
export class Interruption {
  #problem: Error | undefined;
  #cut: ((problem: Error) => void) | undefined;

  /** Rejects the work under way and all later work; the first problem counts. */
  end(problem: Error): void {
    this.#problem ??= problem;
    this.#cut?.(this.#problem);
  }

  /**
   * One at a time.
   * @throws the problem of `end`, as soon as it is known; the work itself runs on unheard.
   */
  during<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const settled =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        if (this.#cut === reject) this.#cut = undefined;
        settle(value);
      };
    work.then(settled(resolve), settled(reject));
    if (this.#problem === undefined) this.#cut = reject;
    else reject(this.#problem);
    return promise;
  }
}

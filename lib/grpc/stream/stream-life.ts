/** Whether a stream is still open. Its signal is made when one asks for it: most streams live and end without one. */
export class StreamLife {
  #isOver = false;
  #over: AbortController | undefined;
  #onEnd: (() => void) | undefined;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Aborts when the stream is over. */
  get signal(): AbortSignal {
    if (this.#over === undefined) {
      this.#over = new AbortController();
      if (this.#isOver) this.#over.abort();
    }
    return this.#over.signal;
  }

  /** Calls the one that listens when the stream is over; the later listener counts. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  /** The stream is over. Saying it again changes nothing. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#over?.abort();
    this.#onEnd?.();
  }
}

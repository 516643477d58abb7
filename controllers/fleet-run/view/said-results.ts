import type { EdgeOutcome } from '../../../lib/edge/index.ts';

/** Results that this process appended to the log in place of hosts, and that have not come back by the news yet. */
export class SaidResults {
  readonly #said = new Map<string, { readonly result: EdgeOutcome; readonly at: number | undefined }>();

  /** Since when the log takes none, for want of room. */
  #fullSince: number | undefined;

  has(node: string): boolean {
    return this.#said.has(node);
  }

  /** It is on its way to the log. */
  noteSaying(node: string, result: EdgeOutcome): void {
    this.#said.set(node, { result, at: undefined });
  }

  /** The log has taken it, unless it has come back meanwhile. */
  noteTaken(node: string, now: number): void {
    this.#fullSince = undefined;
    const said = this.#said.get(node);
    if (said !== undefined) this.#said.set(node, { ...said, at: now });
  }

  /** The log has no room for one. Answers for how long that has been so. */
  noteFull(now: number): number {
    this.#fullSince ??= now;
    return now - this.#fullSince;
  }

  get isFull(): boolean {
    return this.#fullSince !== undefined;
  }

  /** The outcome of the host is known. */
  noteBack(node: string): void {
    this.#said.delete(node);
  }

  /** Those that the log took at `before` or earlier: it may have dropped them. */
  *overdue(before: number): Generator<readonly [node: string, result: EdgeOutcome]> {
    for (const [node, { result, at }] of this.#said) if (at !== undefined && at <= before) yield [node, result];
  }
}

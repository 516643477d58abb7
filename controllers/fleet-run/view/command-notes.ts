/**
 * Things about the commands of a run that the process which drives it knows, beside the plan. They are gone with the process: the next
 * one finds out anew.
 */
export class CommandNotes {
  /** Launches under way, by host. */
  readonly #launches = new Map<string, Promise<void>>();
  /** When each command left, or may have, in milliseconds since the epoch. */
  readonly #sentAt = new Map<string, number>();
  /** The same of the first try of each, whose token sets the time for all. */
  readonly #firstSentAt = new Map<string, number>();
  /** Commands without an outcome whose claims are there: the account of the tenant has them. */
  readonly #claimed = new Set<string>();
  #fullSince: number | undefined;
  readonly #cancelled = new Set<string>();
  readonly #unsure = new Set<string>();
  readonly #unreached = new Set<string>();
  /** Late hosts whose records are being read. */
  readonly #looks = new Set<string>();

  /** Keeps a launch until it is over. It never rejects. */
  launch(node: string, launch: Promise<void>): void {
    this.#launches.set(
      node,
      launch.finally(() => this.#launches.delete(node)),
    );
  }

  /** Launches that are under way. */
  get launches(): number {
    return this.#launches.size;
  }

  /** Resolves when no launch of the host's command is under way. */
  async launched(node: string): Promise<void> {
    await this.#launches.get(node);
  }

  noteClaimed(node: string): void {
    this.#claimed.add(node);
  }

  noteSending(node: string, now: number): void {
    this.#sentAt.set(node, now);
    if (!this.#firstSentAt.has(node)) this.#firstSentAt.set(node, now);
  }

  /** When the first of the commands without an outcome left; undefined where none has. */
  get sentSince(): number | undefined {
    let first: number | undefined;
    for (const at of this.#firstSentAt.values()) first = Math.min(first ?? at, at);
    return first;
  }

  /** A claim found no room. Answers for how long that has been so, in time that never steps. */
  noteFull(now: number): number {
    this.#fullSince ??= now;
    return now - this.#fullSince;
  }

  /** Whether the last claim found no room. */
  get isFull(): boolean {
    return this.#fullSince !== undefined;
  }

  /** A claim has found room. */
  noteRoom(): void {
    this.#fullSince = undefined;
  }

  get claimed(): number {
    return this.#claimed.size;
  }

  /** Undefined: it has not left this process, or its outcome is known. */
  sentAt(node: string): number | undefined {
    return this.#sentAt.get(node);
  }

  /** The outcome of the command is known. */
  noteEnded(node: string): void {
    this.#claimed.delete(node);
    this.#sentAt.delete(node);
    this.#firstSentAt.delete(node);
  }

  /** The command is not wanted any more. False where that was known. */
  beginCancel(node: string): boolean {
    const isNew = !this.#cancelled.has(node);
    this.#cancelled.add(node);
    return isNew;
  }

  /** It is not certain that the command reached its host. */
  noteUnsure(node: string): void {
    this.#unsure.add(node);
  }

  isUnsure(node: string): boolean {
    return this.#unsure.has(node);
  }

  /** False while the record of the command is being read. */
  beginLook(node: string): boolean {
    const isNew = !this.#looks.has(node);
    this.#looks.add(node);
    return isNew;
  }

  endLook(node: string): void {
    this.#looks.delete(node);
  }

  /** Whether the last cancellation was handed over. */
  noteReached(node: string, isReached: boolean): void {
    if (isReached) this.#unreached.delete(node);
    else this.#unreached.add(node);
  }

  isUnreached(node: string): boolean {
    return this.#unreached.has(node);
  }
}

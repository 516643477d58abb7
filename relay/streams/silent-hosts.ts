import type { Clock } from '../../lib/clock.ts';
import { createFairPool, type FairPool, type PoolPart } from '../../lib/fair-pool.ts';
import type { LiveStream } from './live-stream.ts';

/**
 * How the write of a state ended: it is stored, or nothing was to be stored any more; the server has refused it; or the server
 * did not answer, so that the same write may succeed later.
 */
export type WriteEnd = 'done' | 'refused' | 'unanswered';

interface SilentHostsDeps {
  readonly clock: Clock;
  /** A host is Unhealthy after more than this silence. */
  readonly staleMs: number;
  /** Whether the stream is the one of its host here. */
  readonly isOpen: (stream: LiveStream) => boolean;
  /** Writes the state of its host. Never rejects. */
  readonly write: (stream: LiveStream) => Promise<WriteEnd>;
}

/** Silent hosts that are written at once. One that hangs holds its place alone, and a tenant never holds the last free place. */
const writesAtOnce = 64;
/** How long a host rests whose write was refused: the same write is likely to be refused again. */
const restMs = 60_000;

/**
 * Hosts that have been silent for too long, until that is written. Each is written once, tenants take turns, and no
 * write waits for another, however many hosts are silent: a site of ten thousand falls silent within seconds.
 */
export class SilentHosts {
  readonly #deps: SilentHostsDeps;
  readonly #places: FairPool;
  /** Those that wait, by tenant, in the order of the turns. */
  readonly #lines = new Map<string, Set<LiveStream>>();
  readonly #underWay = new Set<LiveStream>();
  /** Hosts whose last write has failed, and until when they rest: others come before them. */
  readonly #failed = new WeakMap<LiveStream, number>();
  /** Writes without an answer since the last answer. */
  #unanswered = 0;
  #settled: PromiseWithResolvers<void> | undefined;

  constructor(deps: SilentHostsDeps) {
    this.#deps = deps;
    this.#places = createFairPool({ size: writesAtOnce, clock: deps.clock });
  }

  /** Adds those that have fallen silent. Resolves when nothing waits and nothing is under way; never rejects. */
  async look(open: Iterable<LiveStream>): Promise<void> {
    const now = this.#deps.clock.steadyMs();
    const again: LiveStream[] = [];
    for (const stream of open) {
      if (!this.#isDue(stream, now)) continue;
      if (this.#failed.has(stream)) again.push(stream);
      else this.#add(stream);
    }
    for (const stream of again) this.#add(stream);
    if (this.#lines.size > 0) this.#settled ??= Promise.withResolvers();
    this.#serve();
    await this.#settled?.promise;
  }

  #isDue(stream: LiveStream, now: number): boolean {
    const isNews = !stream.isUnhealthy || stream.isUnwritten;
    return isNews && this.#isSilent(stream, now) && !this.#underWay.has(stream) && this.#restsUntil(stream) <= now;
  }

  #isSilent({ lastHeard }: LiveStream, now: number): boolean {
    return now - lastHeard > this.#deps.staleMs;
  }

  #restsUntil(stream: LiveStream): number {
    return this.#failed.get(stream) ?? -Infinity;
  }

  #add(stream: LiveStream): void {
    const { tenant } = stream.host;
    const line = this.#lines.get(tenant);
    if (line === undefined) this.#lines.set(tenant, new Set([stream]));
    else line.add(stream);
  }

  #serve(): void {
    while (this.#places.used < writesAtOnce && this.#beginNext());
    if (this.#lines.size > 0 || this.#underWay.size > 0) return;
    this.#settled?.resolve();
    this.#settled = undefined;
  }

  /** False where no tenant that waits may have one more place. */
  #beginNext(): boolean {
    for (const [tenant, line] of this.#lines) {
      const [stream] = line;
      const place = stream && this.#places.tryEnter({ tenant });
      if (stream === undefined || place === undefined) continue;
      line.delete(stream);
      // The next turn of the tenant comes after those of all others.
      this.#lines.delete(tenant);
      if (line.size > 0) this.#lines.set(tenant, line);
      void this.#begin(stream, place);
      return true;
    }
    return false;
  }

  async #begin(stream: LiveStream, place: PoolPart): Promise<void> {
    this.#underWay.add(stream);
    const end = await this.#writeIfSilent(stream);
    this.#underWay.delete(stream);
    this.#note(stream, end);
    place.leave();
    this.#serve();
  }

  /** It may have spoken, or have ended, while it waited. */
  async #writeIfSilent(stream: LiveStream): Promise<WriteEnd> {
    const { clock, isOpen, write } = this.#deps;
    if (!isOpen(stream) || !this.#isSilent(stream, clock.steadyMs())) return 'done';
    stream.isUnhealthy = true;
    return write(stream);
  }

  #note(stream: LiveStream, end: WriteEnd): void {
    this.#unanswered = end === 'unanswered' ? this.#unanswered + 1 : 0;
    if (end === 'done') return void this.#failed.delete(stream);
    this.#failed.set(stream, end === 'refused' ? this.#deps.clock.steadyMs() + restMs : -Infinity);
    // The next look finds them again: the server may be away.
    if (end === 'unanswered') this.#lines.delete(stream.host.tenant);
    if (this.#unanswered >= writesAtOnce) this.#lines.clear();
  }
}

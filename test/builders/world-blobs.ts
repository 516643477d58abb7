import type { Decision } from '../../controllers/execution/engine/decision.ts';
import type { Failure } from '../../controllers/execution/engine/facts.ts';
import type { Json } from '../../crds/schema/parts.ts';
import { createBlob, parseLocator } from '../../lib/output-store/blob.ts';
import { LargeValue } from '../../lib/template/large-value.ts';

/** The output store of one execution: contents by their reference. */
export class WorldBlobs extends Map<string, Uint8Array> {
  readonly #budget: number;
  #stored = 0;

  /** `budget`: bytes that it takes in all. */
  constructor(budget = Number.POSITIVE_INFINITY) {
    super();
    this.#budget = budget;
  }

  /** Why it takes nothing; undefined once it has taken everything. */
  store({ blobs }: Decision): Failure | undefined {
    const fresh = blobs.filter(({ ref }) => !this.has(ref));
    const bytes = fresh.reduce((sum, { data }) => sum + data.byteLength, 0);
    if (this.#stored + bytes > this.#budget) return { reason: 'OutputBudgetExceeded', message: 'no room' };
    this.#stored += bytes;
    for (const { ref, data } of fresh) this.set(ref, data);
    return undefined;
  }

  load(locator: string): Json {
    const { ref, encoding } = parseLocator(locator);
    const data = this.get(ref);
    if (data === undefined || createBlob(data).ref !== ref) throw new Error(`blob ${ref} was never stored`);
    const text = Buffer.from(data).toString('utf8');
    return encoding === 'text' ? text : (JSON.parse(text) as Json);
  }

  /** The value with stored parts put back. */
  whole(value: unknown): unknown {
    if (value instanceof LargeValue) return this.load(value.ref);
    if (Array.isArray(value)) return value.map((item) => this.whole(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, this.whole(child)]));
  }
}

import type { Json } from '../../crds/schema/parts.ts';
import { parseLocator } from '../../lib/output-store/blob.ts';
import { LargeValue } from '../../lib/template/large-value.ts';

/** Values that the status of a simulated execution refers to, in memory in place of the output store. */
export class StoredValues {
  readonly #blobs = new Map<string, Uint8Array>();

  keep(blobs: readonly { readonly ref: string; readonly data: Uint8Array }[]): void {
    for (const { ref, data } of blobs) this.#blobs.set(ref, data);
  }

  load(locator: string): Json {
    const { ref, encoding } = parseLocator(locator);
    const data = this.#blobs.get(ref);
    if (data === undefined) throw new Error(`blob ${ref} was never stored`);
    const text = Buffer.from(data).toString('utf8');
    return encoding === 'text' ? text : (JSON.parse(text) as Json);
  }

  /** The value with every large part of it loaded. */
  whole(value: unknown): unknown {
    if (value instanceof LargeValue) return this.load(value.ref);
    if (Array.isArray(value)) return value.map((item) => this.whole(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, this.whole(child)]));
  }
}

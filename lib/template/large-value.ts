/**
 * Represents a value of the output store in a scope (design §5). Rendering and evaluating report the
 * references that they really touched; the caller loads those and calls again with the values.
 * It is a class, not a shape, so that no user data with the same fields can be taken for one.
 */
export class LargeValue {
  readonly ref: string;
  /** Size in the store, uncompressed, in bytes. */
  readonly bytes: number;

  constructor(ref: string, bytes: number) {
    this.ref = ref;
    this.bytes = bytes;
  }

  /** Whether the store holds JSON, which becomes a value again, and not a text. */
  get isJson(): boolean {
    return this.ref.startsWith('json/');
  }
}

/** Values of the output store by reference, as loaded so far. */
export type LoadedValues = ReadonlyMap<string, unknown>;

/** Says that the result depends on values which are not loaded yet. */
export interface NeedsValues {
  readonly kind: 'needs';
  /** References to load, each once, in the order of their first use. */
  readonly refs: readonly string[];
}

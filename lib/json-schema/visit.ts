import type { CompiledSchema, DocumentPlace, Schema } from './compiled-schema.ts';
import { schemaPrices } from './limits.ts';
import type { SchemaWork } from './work.ts';

/** Applies a schema to a value; given to keywords so that they can apply the schemas within them. */
export type Apply = (schema: Schema, value: unknown, place: DocumentPlace | undefined) => SchemaVerdict;

/** A problem before its place is written out, which most problems never need. */
interface Finding {
  readonly place: DocumentPlace | undefined;
  readonly message: string;
}

/** The verdict of one schema on one value. */
export interface SchemaVerdict {
  readonly valid: boolean;
  readonly findings: readonly Finding[];
  /** How many there are beyond these. */
  readonly unlisted: number;
  /** Keys and indexes that the schema has judged, for the `unevaluated…` keywords. */
  readonly evaluated: ReadonlySet<string | number>;
}

/** One schema on one value: what its keywords have found so far. */
export class SchemaVisit implements SchemaVerdict {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  readonly compiled: CompiledSchema;
  readonly work: SchemaWork;
  readonly findings: Finding[] = [];
  readonly evaluated = new Set<string | number>();
  valid = true;
  unlisted = 0;
  readonly #place: DocumentPlace | undefined;
  readonly #apply: Apply;
  readonly #most: number;

  constructor(
    schema: Readonly<Record<string, unknown>>,
    value: unknown,
    place: DocumentPlace | undefined,
    run: { readonly compiled: CompiledSchema; readonly work: SchemaWork; readonly apply: Apply; readonly most: number },
  ) {
    this.schema = schema;
    this.value = value;
    this.compiled = run.compiled;
    this.work = run.work;
    this.#place = place;
    this.#apply = run.apply;
    this.#most = run.most;
  }

  /** Notes a problem of the value, or of its member `key`. */
  fail(message: string, key?: string | number): void {
    this.work.spend(schemaPrices.entry);
    this.valid = false;
    this.#list({ place: key === undefined ? this.#place : { parent: this.#place, key }, message });
  }

  /** Applies a schema to the same value without taking over what it finds. */
  probe(schema: Schema): SchemaVerdict {
    return this.#apply(schema, this.value, this.#place);
  }

  /** Applies a schema to the same value and takes over what it finds. */
  join(schema: Schema): void {
    this.adopt(this.probe(schema));
  }

  /** Takes over findings, and what was evaluated where the schema was content. */
  adopt(verdict: SchemaVerdict): void {
    this.#adoptFindings(verdict);
    if (verdict.valid) this.adoptEvaluated(verdict);
  }

  adoptEvaluated({ evaluated }: SchemaVerdict): void {
    if (!this.compiled.tracksEvaluated) return;
    this.work.spend(evaluated.size * schemaPrices.key);
    for (const key of evaluated) this.evaluated.add(key);
  }

  /** Applies a schema to the member of a key, and takes over its findings. */
  descend(schema: Schema, key: string | number): void {
    this.#adoptFindings(this.probeChild(schema, key));
    this.markEvaluated(key);
  }

  probeChild(schema: Schema, key: string | number): SchemaVerdict {
    const child = (this.value as Record<string | number, unknown>)[key];
    return this.#apply(schema, child, { parent: this.#place, key });
  }

  /** Applies a schema to a key itself, as `propertyNames` does. */
  probeName(schema: Schema, key: string): SchemaVerdict {
    return this.#apply(schema, key, { parent: this.#place, key });
  }

  markEvaluated(key: string | number): void {
    if (this.compiled.tracksEvaluated) this.evaluated.add(key);
  }

  #adoptFindings({ valid, findings, unlisted }: SchemaVerdict): void {
    if (valid) return;
    this.valid = false;
    this.unlisted += unlisted;
    this.work.spend(findings.length * schemaPrices.entry);
    for (const finding of findings) this.#list(finding);
  }

  #list(finding: Finding): void {
    if (this.findings.length < this.#most) this.findings.push(finding);
    else this.unlisted += 1;
  }
}

import { applicators, finishers } from './applicators.ts';
import { assertions } from './assertions.ts';
import { compileSchema } from './compile.ts';
import type { CompiledSchema, DocumentPlace, Schema, SchemaProblem } from './compiled-schema.ts';
import { pathOf } from './compiled-schema.ts';
import { schemaLimits, schemaPrices } from './limits.ts';
import { type Apply, type SchemaVerdict, SchemaVisit } from './visit.ts';
import { Work, WorkBudgetExceeded } from '../work/work.ts';
import { SchemaBudgetExceeded, SchemaWork } from './work.ts';

/**
 * Everything that is wrong with a JSON Schema (2020-12; draft-07 where `$schema` names it); empty for a good one.
 * Unknown keywords, remote references (AMB-087) and patterns that are not linear-time are refused.
 * @throws WorkBudgetExceeded where the work of the definition is used up.
 */
export function checkSchema(schema: unknown, work = new Work()): readonly SchemaProblem[] {
  const result = compileSchema(schema);
  if (!result.ok) return result.problems;
  work.spend(result.compiled.cost);
  return [];
}

/**
 * The places where a value does not fit a schema; empty when it fits. Beyond `most` they are counted, in one more
 * problem at the root. `format` asserts nothing and `default` fills in nothing (AMB-166). Work above the limit is one
 * problem at the root, never a long wait. A schema that `checkSchema` refuses gives its problems, their paths after
 * `schema:`.
 */
export function validate(
  schema: unknown,
  value: unknown,
  most: number = schemaLimits.problems,
): readonly SchemaProblem[] {
  try {
    return validateWithin(new Work(), schema, value, most);
  } catch (error) {
    if (error instanceof WorkBudgetExceeded) return [{ path: '', message: error.message }];
    throw error;
  }
}

/**
 * The same, paid from the work of a turn.
 * @throws WorkBudgetExceeded
 */
export function validateWithin(
  work: Work,
  schema: unknown,
  value: unknown,
  most: number = schemaLimits.problems,
): readonly SchemaProblem[] {
  return work.during('checking against a JSON Schema', () => {
    const result = compileSchema(schema);
    if (!result.ok) return result.problems.map(({ path, message }) => ({ path: `schema:${path}`, message }));
    work.spend(result.compiled.cost);
    return new Validation(result.compiled, new SchemaWork(work), most).run(value);
  });
}

const nothingEvaluated: ReadonlySet<string> = new Set();
const accepted: SchemaVerdict = { valid: true, findings: [], unlisted: 0, evaluated: nothingEvaluated };

/** One validation of one value, with its own count of work. */
export class Validation {
  readonly #compiled: CompiledSchema;
  readonly #work: SchemaWork;
  readonly #most: number;

  constructor(compiled: CompiledSchema, work: SchemaWork, most: number = schemaLimits.problems) {
    this.#compiled = compiled;
    this.#work = work;
    this.#most = most;
  }

  run(value: unknown): readonly SchemaProblem[] {
    try {
      this.#measure(value, 0);
      const { findings, unlisted } = this.#apply(this.#compiled.root, value, undefined);
      const listed = findings.map(({ place, message }) => ({ path: pathOf(place), message }));
      return unlisted === 0 ? listed : [...listed, { path: '', message: `and ${unlisted} more` }];
    } catch (error) {
      if (error instanceof SchemaBudgetExceeded) return [{ path: '', message: error.message }];
      throw error;
    }
  }

  readonly #apply: Apply = (schema, value, place) => {
    this.#work.spend(schemaPrices.schema);
    if (schema === true) return accepted;
    return this.#work.nested(() => this.#visit(schema, value, place));
  };

  #visit(schema: Schema, value: unknown, place: DocumentPlace | undefined): SchemaVerdict {
    const run = { compiled: this.#compiled, work: this.#work, apply: this.#apply, most: this.#most };
    const visit = new SchemaVisit(typeof schema === 'boolean' ? {} : schema, value, place, run);
    if (schema === false) visit.fail('is not allowed here');
    else this.#keywords(visit);
    return visit;
  }

  #keywords(visit: SchemaVisit): void {
    // In draft-07 the neighbours of a reference do not count.
    const alone = this.#compiled.draft7 && Object.hasOwn(visit.schema, '$ref');
    const names = alone ? ['$ref'] : Object.keys(visit.schema);
    this.#work.spend(names.length * schemaPrices.entry);
    for (const table of [assertions, applicators, finishers]) {
      for (const name of names) if (Object.hasOwn(table, name)) table[name]?.(visit.schema[name], visit);
    }
  }

  /** Counts a value once before any schema sees it, so that its depth is known to be harmless. */
  #measure(value: unknown, depth: number): void {
    this.#work.spend(schemaPrices.entry);
    if (typeof value !== 'object' || value === null) return;
    if (depth >= schemaLimits.valueDepth) {
      throw new SchemaBudgetExceeded(`the value is nested deeper than ${schemaLimits.valueDepth} levels`);
    }
    if (Array.isArray(value)) {
      for (const item of value as unknown[]) this.#measure(item, depth + 1);
      return;
    }
    const keys = Object.keys(value);
    // Keys are dearer than indexes, here and in every keyword that walks them.
    this.#work.spend(keys.length * schemaPrices.key);
    for (const key of keys) this.#measure((value as Readonly<Record<string, unknown>>)[key], depth + 1);
  }
}

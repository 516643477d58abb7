import { RE2JS } from 're2js';
import { pointerOf } from '../../crds/json-pointer.ts';
import { messageOf } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';
import { memoize } from '../memo.ts';
import {
  type AllowedValues,
  type CompiledSchema,
  type DocumentPlace,
  pathOf,
  type Schema,
  type SchemaProblem,
  shorten,
} from './compiled-schema.ts';
import { canonical } from './equal.ts';
import { draft7, inPlace, type KeywordShape, keywords } from './keywords.ts';
import { schemaLimits, schemaPrices } from './limits.ts';
import { shapeTests } from './shapes.ts';

/** The checked form of a schema, or all that is wrong with it. */
type Compilation =
  | { readonly ok: true; readonly compiled: CompiledSchema }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

const dialect2020 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const dialect7 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

/**
 * Checks a schema and resolves its references and patterns; the last ones are remembered. Nothing is fetched: only
 * references into the document itself resolve.
 */
export function compileSchema(schema: unknown): Compilation {
  if (sizeOf(schema, 0) <= schemaLimits.size) return compileText(JSON.stringify(schema) ?? 'null');
  const message = `a schema has at most ${schemaLimits.size} values, nested at most ${schemaLimits.depth} levels`;
  return { ok: false, problems: [{ path: '', message }] };
}

const compileText = memoize(schemaLimits.remembered, compileJson, weightOf);

function compileJson(text: string): Compilation {
  const compiler = new Compiler(JSON.parse(text) as unknown, text.length);
  const compiled = compiler.run();
  return compiled === undefined ? { ok: false, problems: compiler.problems } : { ok: true, compiled };
}

/** A short pattern may compile to a long program. */
function weightOf(compilation: Compilation): number {
  if (!compilation.ok) return 0;
  const instructions = [...compilation.compiled.patterns.values()].map((pattern) => pattern.programSize());
  return schemaLimits.instructionWeight * instructions.reduce((sum, size) => sum + size, 0);
}

/** Values in a document; infinite when it is nested too deep to be walked safely. */
function sizeOf(value: unknown, depth: number): number {
  if (depth > schemaLimits.depth) return Number.POSITIVE_INFINITY;
  if (typeof value !== 'object' || value === null) return 1;
  let size = 1;
  for (const item of Object.values(value)) {
    size += sizeOf(item, depth + 1);
    if (size > schemaLimits.size) return size;
  }
  return size;
}

interface Reference {
  readonly ref: string;
  readonly place: DocumentPlace;
}

class Compiler {
  readonly problems: SchemaProblem[] = [];
  readonly #root: unknown;
  readonly #length: number;
  readonly #draft7: boolean;
  /** Schemas by JSON pointer and by `#anchor`. */
  readonly #schemas = new Map<string, Schema>();
  readonly #references: Reference[] = [];
  readonly #patterns = new Map<string, RE2JS>();
  readonly #allowed = new Map<unknown, AllowedValues>();
  #count = 0;
  #tracksEvaluated = false;
  #instructions = 0;

  constructor(root: unknown, length: number) {
    this.#root = root;
    this.#length = length;
    this.#draft7 = isJsonObject(root) && typeof root['$schema'] === 'string' && dialect7.test(root['$schema']);
  }

  run(): CompiledSchema | undefined {
    if (typeof this.#root !== 'boolean' && !isJsonObject(this.#root)) {
      this.#refuse(undefined, 'a schema is an object, true or false');
      return undefined;
    }
    this.#visit(this.#root, undefined, '#');
    const targets = this.#resolve();
    if (this.problems.length === 0) this.#refuseEndless(targets);
    if (this.problems.length > 0) return undefined;
    return {
      root: this.#root,
      draft7: this.#draft7,
      tracksEvaluated: this.#tracksEvaluated,
      targets,
      patterns: this.#patterns,
      allowed: this.#allowed,
      cost: (this.#count + this.#instructions) * schemaPrices.compiled + this.#length * schemaPrices.schemaCharacter,
    };
  }

  #visit(schema: Schema, place: DocumentPlace | undefined, pointer: string): void {
    this.#schemas.set(pointer, schema);
    this.#count++;
    if (typeof schema === 'boolean') return;
    if (this.#count > schemaLimits.subschemas) return this.#refuseCount(place);
    for (const [keyword, value] of Object.entries(schema)) {
      const at = { parent: place, key: keyword };
      const shape = this.#shapeOf(keyword);
      if (shape === undefined) this.#unknown(keyword, at);
      else if (!shapeTests[shape][1](value)) this.#refuse(at, `must be ${shapeTests[shape][0]}`);
      else this.#keyword(keyword, value, at, { shape, pointer: pointer + pointerOf(keyword) });
    }
  }

  #refuseCount(place: DocumentPlace | undefined): void {
    // Said once, not for each schema beyond the limit.
    if (this.#count > schemaLimits.subschemas + 1) return;
    this.#refuse(place, `the schema has more than ${schemaLimits.subschemas} schemas within it`);
  }

  #shapeOf(keyword: string): KeywordShape | undefined {
    if (this.#draft7 && draft7.has(keyword)) return draft7.get(keyword);
    return keyword.startsWith('x-') ? 'any' : keywords.get(keyword);
  }

  #unknown(keyword: string, at: DocumentPlace): void {
    if (draft7.has(keyword)) {
      return this.#refuse(at, 'is a keyword of draft-07; name that dialect in $schema, or use the 2020-12 keyword');
    }
    this.#refuse(at, 'is not a supported keyword of JSON Schema 2020-12; a note of your own begins with x-');
  }

  #keyword(
    keyword: string,
    value: unknown,
    at: DocumentPlace,
    context: { shape: KeywordShape; pointer: string },
  ): void {
    const { shape, pointer } = context;
    if (shape === 'text') return this.#text(keyword, value as string, at);
    if (shape === 'pattern') return this.#pattern(value as string, at);
    if (shape === 'values') this.#allowed.set(value, allowedValues(value as unknown[]));
    if (shape === 'patternMap') for (const pattern of Object.keys(value as object)) this.#pattern(pattern, at);
    if (keyword.startsWith('unevaluated')) this.#tracksEvaluated = true;
    for (const [key, schema] of schemasIn(shape, value)) {
      const place = key === undefined ? at : { parent: at, key };
      const below = key === undefined ? pointer : pointer + pointerOf(String(key));
      this.#visit(schema, place, below);
    }
  }

  #text(keyword: string, value: string, at: DocumentPlace): void {
    if (keyword === '$ref') this.#references.push({ ref: value, place: at });
    if (keyword === '$schema' && !dialect2020.test(value) && !dialect7.test(value)) {
      this.#refuse(at, 'names a dialect that is not supported; use 2020-12 or draft-07');
    }
    // An inner $id would change what the references below it mean.
    if (keyword === '$id' && at.parent !== undefined) this.#refuse(at, 'is supported at the root only');
    if (keyword !== '$anchor') return;
    if (this.#schemas.has(`#${value}`)) this.#refuse(at, `the anchor ${JSON.stringify(value)} is a duplicate`);
    this.#anchor(value, at);
  }

  #anchor(name: string, at: DocumentPlace): void {
    const schema = this.#at(at.parent);
    if (isJsonObject(schema)) this.#schemas.set(`#${name}`, schema);
  }

  #at(place: DocumentPlace | undefined): unknown {
    if (place === undefined) return this.#root;
    return (this.#at(place.parent) as Record<string | number, unknown>)[place.key];
  }

  #pattern(source: string, at: DocumentPlace): void {
    if (this.#patterns.has(source)) return;
    if (this.#patterns.size >= schemaLimits.patterns) {
      return this.#refuse(at, `the schema has more than ${schemaLimits.patterns} different patterns`);
    }
    if (source.length > schemaLimits.patternLength) {
      return this.#refuse(at, `the pattern is longer than ${schemaLimits.patternLength} characters`);
    }
    try {
      const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
      this.#instructions += pattern.programSize();
      const isSmall = pattern.programSize() <= schemaLimits.patternInstructions;
      if (isSmall && this.#instructions <= schemaLimits.instructions) this.#patterns.set(source, pattern);
      else
        this.#refuse(at, `the ${isSmall ? 'patterns of the schema are' : 'pattern is'} too large; repeat less often`);
    } catch (error) {
      this.#refuse(at, `the pattern ${JSON.stringify(source)} is not supported: ${messageOf(error)}`);
    }
  }

  #resolve(): Map<string, Schema> {
    const targets = new Map<string, Schema>();
    for (const { ref, place } of this.#references) {
      const target = this.#schemas.get(normalPointer(ref));
      if (!ref.startsWith('#'))
        this.#refuse(
          place,
          `${JSON.stringify(ref)} is not fetched; only references into the same schema (#/…) are allowed`,
        );
      else if (target === undefined) this.#refuse(place, `${JSON.stringify(ref)} leads to no schema in this document`);
      else targets.set(ref, target);
    }
    return targets;
  }

  /** A schema that refers to itself for the same value would never end. */
  #refuseEndless(targets: ReadonlyMap<string, Schema>): void {
    const done = new Set<Schema>();
    const open = new Set<Schema>();
    const isEndless = (schema: Schema): boolean => {
      if (typeof schema === 'boolean' || done.has(schema)) return false;
      if (open.has(schema)) return true;
      open.add(schema);
      const endless = sameValueSchemas(schema, targets).some(isEndless);
      open.delete(schema);
      done.add(schema);
      return endless;
    };
    for (const { ref, place } of this.#references) {
      const target = targets.get(ref);
      if (target !== undefined && isEndless(target)) {
        return this.#refuse(place, 'the schema refers to itself for the same value, which never ends');
      }
    }
  }

  #refuse(place: DocumentPlace | undefined, message: string): void {
    if (this.problems.length < schemaLimits.problems) this.problems.push({ path: pathOf(place), message });
  }
}

function allowedValues(values: readonly unknown[]): AllowedValues {
  const texts = values.map((value) => canonical(value, () => {}));
  return { texts: new Set(texts), shown: shorten(texts.slice(0, schemaLimits.shownValues).join(', ')) };
}

/** The schemas in a keyword's value, with the key each has there. */
function schemasIn(shape: KeywordShape, value: unknown): readonly (readonly [string | number | undefined, Schema])[] {
  if (shape === 'schema' || (shape === 'schemaOrSchemas' && !Array.isArray(value)))
    return [[undefined, value as Schema]];
  if (shape === 'schemas' || shape === 'schemaOrSchemas') return [...(value as Schema[]).entries()];
  if (shape !== 'schemaMap' && shape !== 'patternMap' && shape !== 'dependencies') return [];
  return Object.entries(value as Record<string, Schema>).filter(([, schema]) => !Array.isArray(schema));
}

function sameValueSchemas(schema: Readonly<Record<string, unknown>>, targets: ReadonlyMap<string, Schema>): Schema[] {
  const found: Schema[] = [];
  const ref = schema['$ref'];
  const target = typeof ref === 'string' ? targets.get(ref) : undefined;
  if (target !== undefined) found.push(target);
  for (const keyword of inPlace) {
    const shape = draft7.get(keyword) ?? keywords.get(keyword);
    if (shape !== undefined && Object.hasOwn(schema, keyword)) {
      found.push(...schemasIn(shape, schema[keyword]).map(([, inner]) => inner));
    }
  }
  return found;
}

/** A reference in the form under which schemas are known: percent signs decoded, no empty pointer. */
function normalPointer(ref: string): string {
  try {
    return decodeURIComponent(ref);
  } catch {
    return ref;
  }
}

import type { RE2JS } from 're2js';
import { schemaLimits } from './limits.ts';

/** A schema: true accepts everything, false nothing. */
export type Schema = boolean | { readonly [keyword: string]: unknown };

/** Something wrong at a place; the path is dotted, as `items[2].name`, and empty at the root. */
export interface SchemaProblem {
  readonly path: string;
  readonly message: string;
}

/** A checked schema with its references and patterns resolved. */
export interface CompiledSchema {
  readonly root: Schema;
  readonly draft7: boolean;
  /** Whether any schema in it asks what others have evaluated. */
  readonly tracksEvaluated: boolean;
  /** Target of each `$ref`. */
  readonly targets: ReadonlyMap<string, Schema>;
  /** Each pattern, compiled for the linear-time engine. */
  readonly patterns: ReadonlyMap<string, RE2JS>;
  /** Allowed values of each `enum` list, by the list. */
  readonly allowed: ReadonlyMap<unknown, AllowedValues>;
  /** Units of work that compiling takes. */
  readonly cost: number;
}

/** The values of an `enum` in canonical form, and as a message shows them. */
export interface AllowedValues {
  readonly texts: ReadonlySet<string>;
  readonly shown: string;
}

/** A place in a document, from the leaf up; cheap to make, written out only for a problem. */
export interface DocumentPlace {
  readonly parent: DocumentPlace | undefined;
  readonly key: string | number;
}

const plain = /^[A-Za-z_$][\w$-]*$/;

/** `items[2].name`; keys that are no plain words have brackets and quotes. */
export function pathOf(place: DocumentPlace | undefined): string {
  const keys: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.parent) keys.push(at.key);
  const path = keys.toReversed().map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return plain.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return path.join('').replace(/^\./, '');
}

/** A value for a message, cut where it is long. */
export function shorten(text: string): string {
  const { shownLength } = schemaLimits;
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`;
}

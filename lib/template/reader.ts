import { prices } from '../work/limits.ts';
import { parseJson } from '../work/parse-json.ts';
import type { Work } from '../work/work.ts';
import { LargeValue, type LoadedValues, type NeedsValues } from './large-value.ts';
import type { TemplateScope } from './scope.ts';

/** A path that leads nowhere; it prints as the placeholder of WF-TPL-31. */
export class Missing {
  readonly path: string;
  readonly placeholder: string;

  constructor(path: string, waitsFor: string | undefined) {
    this.path = path;
    this.placeholder =
      waitsFor === undefined ? `[missing: ${path}]` : `[missing: ${path} (state '${waitsFor}' has not completed)]`;
  }
}

/**
 * Follows paths through the values of one rendering or evaluation. Only own properties count, so nothing of a prototype
 * can be reached. A string that holds a JSON object or list is read through when a path continues below it (WF-TPL-16).
 */
export class Reader {
  readonly work: Work;
  readonly #scope: TemplateScope;
  readonly #loaded: LoadedValues;
  readonly #needed = new Set<string>();

  constructor(scope: TemplateScope, loaded: LoadedValues, work: Work) {
    this.#scope = scope;
    this.#loaded = loaded;
    this.work = work;
  }

  /** The values that the rendering still lacks, or undefined when it was complete. */
  get needs(): NeedsValues | undefined {
    return this.#needed.size === 0 ? undefined : { kind: 'needs', refs: [...this.#needed] };
  }

  /** The value at a path from the root of the scope. */
  fromRoot(parts: readonly string[], written: string): unknown {
    const [first = ''] = parts;
    const waiting = this.#scope.stateNames.has(first) && !this.#scope.completedStates.has(first);
    return this.follow(this.#scope.root, parts, new Missing(written, waiting ? first : undefined));
  }

  /** The value below `start`, never undefined and never a LargeValue. `missing` where there is none. */
  follow(start: unknown, parts: readonly string[], missing: Missing): unknown {
    let value = this.load(start);
    for (const part of parts) {
      this.work.spend(prices.segment);
      value = this.load(child(this.readable(value), part));
      if (value === undefined) return missing;
    }
    return value === undefined ? missing : value;
  }

  /** The value itself, or what the output store holds for it; an empty text until that is loaded. */
  load(value: unknown): unknown {
    if (!(value instanceof LargeValue)) return value;
    this.work.load(value.ref, value.bytes, value.isJson);
    if (this.#loaded.has(value.ref)) return this.#loaded.get(value.ref);
    this.#needed.add(value.ref);
    return '';
  }

  /** The object or list that a text of JSON holds, undefined for any other text; a value that is no text unchanged. */
  readable(value: unknown): unknown {
    if (typeof value !== 'string') return value;
    // Every text is looked at once, also one that is no JSON: even finding that out takes a walk over its blanks.
    const { parsed } = this.work;
    if (parsed.has(value)) return parsed.get(value);
    this.work.spend(value.length * prices.character);
    const found = /^\s*[[{]/.test(value) ? parseJson(value, this.work)?.value : undefined;
    parsed.set(value, found);
    return found;
  }
}

function child(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

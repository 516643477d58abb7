import { AppError } from '../errors.ts';
import { memoize } from '../memo.ts';
import { toolWorkflowLimits } from './limits.ts';

/** One step of a path. `..` is written before the segment that it looks for. */
export type Segment =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'every' }
  | { readonly kind: 'descend' }
  | { readonly kind: 'filter'; readonly filter: Filter };

/** Alternatives, each of comparisons that must all hold. */
export type Filter = readonly (readonly ExtractorComparison[])[];

export interface ExtractorComparison {
  readonly path: readonly (string | number)[];
  /** Absent where the member only has to be there. */
  readonly operator?: ExtractorOperator;
  readonly value?: string | number | boolean | null;
}

const operators = ['===', '!==', '==', '!=', '<=', '>=', '<', '>'] as const;
export type ExtractorOperator = (typeof operators)[number];

/** Whether a path looks at more than the one value that its names and indexes lead to. */
export const isSearch = (segments: readonly Segment[]): boolean =>
  segments.some(({ kind }) => kind !== 'name' && kind !== 'index');

/** An expression that the gate refuses; the message says where and why. */
export class ExtractorError extends AppError {
  override readonly name = 'ExtractorError';

  constructor(message: string) {
    super('invalid', message, { reason: 'InvalidExtractor' });
  }
}

/**
 * The grammar gate before the JSONPath library. Only members, indexes, `*`, one `..` and filters of comparisons pass,
 * so that nothing of an expression is ever run as JavaScript (ADR 0061). The last expressions are remembered. @throws
 * ExtractorError
 */
export const parseExtractor: (text: string) => readonly Segment[] = memoize(
  { keys: 1_000, length: 256 * 1024 },
  (text) => new ExtractorParser(text).run(),
  (segments) => segments.length * 32,
);

const word = /[\p{L}_$][\p{L}\p{N}_$-]*/uy;
const whole = /-?(?:0|[1-9]\d{0,8})(?![\d.eE])/y;
const number = /-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?/y;
const quoted = /'((?:[^'\\\p{Cc}]|\\['"\\])*)'|"((?:[^"\\\p{Cc}]|\\['"\\])*)"/uy;
const blanks = /[ \t]*/y;
const constant = /(?:true|false|null)(?![\p{L}\p{N}_$])/uy;

/** Comparisons of one filter. */
const comparisonsMax = 8;

class ExtractorParser {
  readonly #text: string;
  readonly #segments: Segment[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): readonly Segment[] {
    if (typeof this.#text !== 'string') throw new ExtractorError('an extractor must be a string');
    const { extractorLength, segments, manySegments } = toolWorkflowLimits;
    if (this.#text.length > extractorLength) this.#refuse(`is longer than ${extractorLength} characters`);
    if (!this.#take('$')) this.#refuse('must begin with $');
    while (this.#at < this.#text.length) this.#segment();
    if (this.#segments.length > segments) this.#refuse(`has more than ${segments} segments`);
    const many = this.#segments.filter(
      ({ kind }) => kind === 'every' || kind === 'filter' || kind === 'descend',
    ).length;
    if (many > manySegments) this.#refuse(`has more than ${manySegments} of [*], [?()] and .. together`);
    return this.#segments;
  }

  #segment(): void {
    if (this.#take('..')) {
      if (this.#segments.some(({ kind }) => kind === 'descend')) this.#refuse("has more than one '..'");
      this.#segments.push({ kind: 'descend' });
      return this.#text[this.#at] === '[' ? this.#bracket() : this.#dotted();
    }
    if (this.#take('.')) return this.#dotted();
    return this.#bracket();
  }

  #dotted(): void {
    if (this.#take('*')) return void this.#segments.push({ kind: 'every' });
    const name = this.#match(word)?.[0] ?? this.#refuse("needs a name or '*' here; write other names as ['a name']");
    this.#segments.push({ kind: 'name', name });
  }

  #bracket(): void {
    if (!this.#take('[')) this.#refuse("needs '.' or '[' here");
    if (this.#take('*')) this.#segments.push({ kind: 'every' });
    else if (this.#take('?(')) this.#segments.push({ kind: 'filter', filter: this.#filter() });
    else {
      const key = this.#key();
      this.#segments.push(typeof key === 'number' ? { kind: 'index', index: key } : { kind: 'name', name: key });
    }
    if (!this.#take(']')) this.#refuse("needs ']' here");
  }

  /** A quoted name or an index. */
  #key(): string | number {
    const index = this.#match(whole)?.[0];
    if (index !== undefined && !index.startsWith('-')) return Number(index);
    return this.#quoted() ?? this.#refuse("takes an index, a 'name', * or a filter ?(@.name == 'value') here");
  }

  #filter(): Filter {
    const alternatives: ExtractorComparison[][] = [[]];
    let count = 0;
    for (;;) {
      if (count === comparisonsMax) this.#refuse(`has more than ${comparisonsMax} comparisons in a filter`);
      count += 1;
      alternatives.at(-1)?.push(this.#comparison());
      this.#match(blanks);
      if (this.#take(')')) return alternatives;
      if (this.#take('||')) alternatives.push([]);
      else if (!this.#take('&&')) this.#refuse("needs ')', && or || here; filters take comparisons only");
    }
  }

  #comparison(): ExtractorComparison {
    this.#match(blanks);
    if (!this.#take('@')) this.#refuse('needs @ here; filters compare members of @ with constants');
    const path: (string | number)[] = [];
    for (;;) {
      if (this.#take('.')) path.push(this.#match(word)?.[0] ?? this.#refuse('needs a name here'));
      else if (this.#take('[')) {
        path.push(this.#key());
        if (!this.#take(']')) this.#refuse("needs ']' here");
      } else break;
    }
    if (path.length > toolWorkflowLimits.segments) this.#refuse('has too long a path in a filter');
    this.#match(blanks);
    const operator = operators.find((candidate) => this.#take(candidate));
    if (operator === undefined) return { path };
    this.#match(blanks);
    return { path, operator, value: this.#constant() };
  }

  #constant(): string | number | boolean | null {
    const name = this.#match(constant)?.[0];
    if (name !== undefined) return name === 'null' ? null : name === 'true';
    const digits = this.#match(number)?.[0];
    if (digits !== undefined) return Number(digits);
    return this.#quoted() ?? this.#refuse("needs a constant here: 'text', a number, true, false or null");
  }

  #quoted(): string | undefined {
    const match = this.#match(quoted);
    if (match === undefined) return undefined;
    return (match[1] ?? match[2] ?? '').replaceAll(/\\(['"\\])/g, '$1');
  }

  #take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match;
  }

  #refuse(message: string): never {
    throw new ExtractorError(`the JSONPath ${message} (character ${this.#at + 1})`);
  }
}

import { prices } from '../work/limits.ts';
import { templateLimits } from './limits.ts';
import { TemplateError } from './template-error.ts';

/** A template in the form that the Handlebars parser takes, and the way back to the source. */
export interface Scanned {
  readonly text: string;
  /** Offset in the source for an offset in `text`. */
  readonly toSource: (offset: number) => number;
  /** Units of work that parsing takes. */
  readonly cost: number;
}

/** String, bracketed segment, end of the tag, word, or any other character; as the Handlebars lexer sees them. */
const token = /"(?:\\"|[^"])*"|'(?:\\'|[^'])*'|\[(?:\\\]|[^\]])*\]|\}\}|[^\s"'[\](){}|=~]+|\s+|[^]/y;
/** The end of a string or bracketed segment. Where none follows, looking for it to the end once is enough. */
const closers: Readonly<Record<string, string>> = { '"': '"', "'": "'", '[': ']' };
/** Blanks that the whitespace control of the parser scans again from each of them. */
const blanks = /\s{2,}/g;
/** It looks at a text from both sides, for a block that begins, parts or ends there. */
const blankPasses = 4;
const number = /^-?\d+(?:\.\d+)?$/;
const numericSegment = /([./])(\d+)(?=[./]|$)/g;
const numericBegin = /[./]\d/;
/** Characters with which a string or bracketed segment begins. */
const opening = `"'[`;
const [point, slash] = ['.', '/'].map((separator) => separator.charCodeAt(0));
/** A tag that opens or parts a block is shorter, with the blanks around it. */
const longestKeyword = 64;

/**
 * One pass over a template before the real parser sees it. It rewrites `a.0.b` to `a.[0].b`, because Handlebars takes a
 * closing `.0` for a syntax error (WF-TPL-15). It parts `{{x}}` from a brace behind it. It refuses what would make the
 * parser slow, whose passes are recursive in blocks and arguments, and linear but dear in tokens. @throws TemplateError
 */
export function scan(source: string): Scanned {
  // The grammar knows no NUL, and neither do commands and environments, where most templates end.
  const nul = source.indexOf('\u0000');
  if (nul >= 0) throw new TemplateError('a template must not contain a NUL character', nul);
  const scanner = new Scanner(source);
  scanner.run();
  return { text: scanner.text, toSource: (offset) => scanner.toSource(offset), cost: scanner.cost };
}

class Scanner {
  text = '';
  readonly #source: string;
  /** Offsets in `text` of the characters that the source does not have. */
  readonly #inserted: number[] = [];
  /** For each open block, itself and its `else if` branches. */
  readonly #blocks: number[] = [];
  #copied = 0;
  #tokens = 0;
  #blankSteps = 0;
  /** Index of the last of each closing character. */
  readonly #lastCloser: ReadonlyMap<string, number>;

  constructor(source: string) {
    this.#source = source;
    this.#lastCloser = new Map(Object.values(closers).map((closer) => [closer, source.lastIndexOf(closer)]));
  }

  get cost(): number {
    return this.#tokens * prices.token + this.#blankSteps * prices.blankStep;
  }

  toSource(offset: number): number {
    let before = 0;
    while (before < this.#inserted.length && (this.#inserted[before] ?? 0) < offset) before++;
    return offset - before;
  }

  run(): void {
    if (this.#source.includes('{{')) this.#countBlanks();
    let contentStart = 0;
    for (;;) {
      const open = this.#source.indexOf('{{', contentStart);
      if (open < 0) break;
      this.#count(3, open);
      contentStart = this.#isEscaped(open, contentStart) ? this.#skipEscaped(open) : this.#tag(open);
    }
    this.#copyTo(this.#source.length);
  }

  /** One backslash before `{{` makes it text, two are a backslash before a tag. */
  #isEscaped(open: number, contentStart: number): boolean {
    const content = this.#source.slice(Math.max(contentStart, open - 2), open);
    return content.endsWith('\\') && !content.endsWith('\\\\');
  }

  /** The text after an escaped `{{` begins with these braces, and a backslash counts only from there on. */
  #skipEscaped(open: number): number {
    return open + 2;
  }

  /** Scans one `{{ … }}` and returns the offset behind it. */
  #tag(open: number): number {
    if (this.#source.startsWith('{{{{', open)) {
      throw new TemplateError('raw blocks {{{{ }}}} are not supported; write \\{{ for literal braces', open);
    }
    const start = this.#source[open + 2] === '~' ? open + 3 : open + 2;
    if (this.#source[start] === '!') return this.#comment(open, start);
    this.#block(start, open);
    return this.#content(open, start);
  }

  #comment(open: number, start: number): number {
    const long = this.#source.startsWith('!--', start);
    const end = long ? /--~?\}\}/g : /\}\}/g;
    end.lastIndex = start;
    const match = end.exec(this.#source);
    if (match === null) throw new TemplateError(`the comment is not closed; end it with ${long ? '--}}' : '}}'}`, open);
    return match.index + match[0].length;
  }

  #block(start: number, open: number): void {
    const rest = this.#source.slice(start, start + longestKeyword);
    if (rest.startsWith('/')) this.#blocks.pop();
    else if (/^#|^\^\s*[^}~\s]/.test(rest)) this.#blocks.push(1);
    else if (/^\s*else\b/.test(rest) && this.#blocks.length > 0) this.#blocks.push((this.#blocks.pop() ?? 0) + 1);
    const depth = this.#blocks.reduce((sum, branches) => sum + branches, 0);
    if (depth <= templateLimits.blockDepth) return;
    throw new TemplateError(`more than ${templateLimits.blockDepth} nested blocks or else branches`, open);
  }

  #content(open: number, start: number): number {
    let calls = 0;
    for (let at = start; at < this.#source.length; ) {
      const word = this.#tokenAt(at);
      // Three braces close a tag that opened with three; the last two are its end.
      if (word === '}}') return this.#end(open, at + 2);
      this.#count(1, at);
      if (word === '(') calls++;
      if (word === ')') calls--;
      if (calls > templateLimits.callDepth) {
        throw new TemplateError(`more than ${templateLimits.callDepth} nested parentheses`, at);
      }
      this.#word(word, at);
      at += word.length;
    }
    throw new TemplateError('the tag is not closed; end it with }}', open);
  }

  #tokenAt(offset: number): string {
    const first = this.#source[offset] ?? '';
    const closer = closers[first];
    if (closer !== undefined && (this.#lastCloser.get(closer) ?? -1) <= offset) return first;
    token.lastIndex = offset;
    return token.exec(this.#source)?.[0] ?? first;
  }

  /** JSON ends a tag and an object in one go, `{"n": {{x}}}`: without help the third brace would be taken for the tag's. */
  #end(open: number, end: number): number {
    if (this.#source[open + 2] === '{' || this.#source[end] !== '}') return end;
    this.#copyTo(end);
    for (const character of '{{!}}') this.#insert(character);
    return end;
  }

  #word(word: string, offset: number): void {
    if (opening.includes(word.charAt(0))) return;
    // Most words have none, and are done: a template may have twenty thousand.
    const separators = countSeparators(word);
    if (separators === 0 || number.test(word)) return;
    this.#count(2 * separators, offset);
    if (!numericBegin.test(word)) return;
    for (const match of word.matchAll(numericSegment)) {
      const digits = offset + match.index + 1;
      this.#copyTo(digits);
      this.#insert('[');
      this.#copyTo(digits + (match[2] ?? '').length);
      this.#insert(']');
    }
  }

  #countBlanks(): void {
    for (const { 0: run, index } of this.#source.matchAll(blanks)) {
      this.#blankSteps += (blankPasses * run.length ** 2) / 2;
      if (this.#blankSteps > templateLimits.blankSteps) {
        throw new TemplateError('the template has too many blanks in a row; leave some out', index);
      }
    }
  }

  #copyTo(end: number): void {
    this.text += this.#source.slice(this.#copied, end);
    this.#copied = end;
  }

  #insert(character: string): void {
    this.#inserted.push(this.text.length);
    this.text += character;
  }

  #count(tokens: number, offset: number): void {
    this.#tokens += tokens;
    if (this.#tokens <= templateLimits.tokens) return;
    throw new TemplateError(`the template has more than ${templateLimits.tokens} tokens; split it`, offset);
  }
}

function countSeparators(word: string): number {
  let count = 0;
  for (let at = 0; at < word.length; at += 1) {
    const code = word.charCodeAt(at);
    if (code === point || code === slash) count += 1;
  }
  return count;
}

import type { PathExpression, Template, TemplateExpression } from '../template/template.ts';
import { bracesAt, quotedAt } from './embedded.ts';
import { ExpressionError } from './expression-error.ts';

const operators = ['||', '&&', '==', '!=', '<=', '>=', '<', '>', '!', '(', ')'] as const;
export type ExpressionOperator = (typeof operators)[number];

export type Token = { readonly offset: number } & (
  | { readonly kind: 'operator'; readonly operator: ExpressionOperator }
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'path'; readonly parts: readonly string[]; readonly written: string }
  /** `{{…}}` outside quotes, and text in quotes that holds some (requirements AMB-172). */
  | { readonly kind: 'braces'; readonly value: TemplateExpression; readonly template: Template }
  | { readonly kind: 'template'; readonly template: Template; readonly written: string }
  | { readonly kind: 'end' }
);

const blank = /\s+/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
const operator = /\|\||&&|[=!<>]=|[<>!()]/y;
/** Segments are names, indexes, or anything in brackets: `plan.steps.0.[my field]`. */
const path = /[A-Za-z_][\w-]*(?:\.(?:[\w-]+|\[[^\]]*\]))*/y;
const segment = /\[[^\]]*\]|[^.[\]]+/g;
const words: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Splits an expression; the last token is always `end`. Linear: no two alternatives of a pattern share a beginning.
 * @throws ExpressionError at the first character that belongs to nothing.
 */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let offset = skipBlanks(source, 0);
  while (offset < source.length) {
    const [token, end] = next(source, offset);
    tokens.push(token);
    offset = skipBlanks(source, end);
  }
  tokens.push({ kind: 'end', offset });
  return tokens;
}

function skipBlanks(source: string, offset: number): number {
  return offset + (matchAt(blank, source, offset)?.[0].length ?? 0);
}

function next(source: string, offset: number): [Token, number] {
  const token =
    templateAt(source, offset) ?? numberAt(source, offset) ?? textAt(source, offset) ?? pathAt(source, offset);
  if (token !== undefined) return token;
  const match = matchAt(operator, source, offset)?.[0];
  const known = operators.find((candidate) => candidate === match);
  if (known === undefined) throw unexpected(source, offset);
  return [{ kind: 'operator', operator: known, offset }, offset + known.length];
}

function templateAt(source: string, offset: number): [Token, number] | undefined {
  if (!source.startsWith('{{', offset)) return undefined;
  const { value, template, end } = bracesAt(source, offset);
  if (value.kind === 'path' && value.frame === 0) return [toPath(value, offset), end];
  return [{ kind: 'braces', value, template, offset }, end];
}

function numberAt(source: string, offset: number): [Token, number] | undefined {
  const match = matchAt(number, source, offset)?.[0];
  if (match === undefined) return undefined;
  return [{ kind: 'literal', value: Number(match), offset }, offset + match.length];
}

function textAt(source: string, offset: number): [Token, number] | undefined {
  if (source[offset] !== '"' && source[offset] !== "'") return undefined;
  const { text, template, end } = quotedAt(source, offset);
  if (template === undefined) return [{ kind: 'literal', value: text, offset }, end];
  return [{ kind: 'template', template, written: text, offset }, end];
}

function pathAt(source: string, offset: number): [Token, number] | undefined {
  const written = matchAt(path, source, offset)?.[0];
  if (written === undefined) return undefined;
  const word = words.get(written);
  const token: Token =
    word === undefined
      ? toPath({ parts: partsOf(written), written }, offset)
      : { kind: 'literal', value: word, offset };
  return [token, offset + written.length];
}

const partsOf = (written: string): readonly string[] =>
  (written.match(segment) ?? []).map((part) => (part.startsWith('[') ? part.slice(1, -1) : part));

function toPath({ parts, written }: Pick<PathExpression, 'parts' | 'written'>, offset: number): Token {
  return { kind: 'path', parts, written, offset };
}

function unexpected(source: string, offset: number): ExpressionError {
  const character = String.fromCodePoint(source.codePointAt(offset) ?? 0);
  if (character === '=') return new ExpressionError("'=' is not an operator; write ==", offset);
  return new ExpressionError(`unexpected ${JSON.stringify(character)}`, offset);
}

function matchAt(pattern: RegExp, source: string, offset: number): RegExpExecArray | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(source) ?? undefined;
}

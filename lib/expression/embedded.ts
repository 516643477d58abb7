import type { Template, TemplateExpression } from '../template/template.ts';
import { parseTemplate } from '../template/parse.ts';
import { TemplateError } from '../template/template-error.ts';
import { ExpressionError } from './expression-error.ts';

/** A text in quotes as the lexer leaves it: plain, or a template where it holds `{{…}}`. */
interface QuotedText {
  /** The text, escapes resolved; the text in braces is left as it was written. */
  readonly text: string;
  readonly template?: Template;
  /** Behind the closing quote. */
  readonly end: number;
}

/** Blocks, their ends, comments, and nothing at all. */
const noValue = /^\{\{+~?\s*(?:[#^/!>]|~?\})/;
const oneValue = 'outside quotes {{…}} is one value; put blocks into quotes';
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * The template expression that begins at `open`, outside quotes (requirements AMB-172): one path, helper or value.
 * @throws ExpressionError
 */
export function bracesAt(source: string, open: number): { value: TemplateExpression; template: Template; end: number } {
  const end = endOfBraces(source, open);
  const written = source.slice(open, end);
  if (noValue.test(written)) throw new ExpressionError(oneValue, open);
  const template = parseAt(written, open);
  const [node, more] = template.nodes;
  if (node?.kind !== 'value' || more !== undefined) throw new ExpressionError(oneValue, open);
  return { value: node.value, template, end };
}

/**
 * The text in quotes that begins at `open`. Quotes within `{{…}}` belong to the template (requirements AMB-172).
 * @throws ExpressionError
 */
export function quotedAt(source: string, open: number): QuotedText {
  const quote = source[open];
  let text = '';
  let template = '';
  let isTemplate = false;
  for (let at = open + 1; at < source.length; ) {
    const character = source[at] ?? '';
    if (character === quote) {
      const end = at + 1;
      return isTemplate ? { text, template: parseAt(template, open + 1), end } : { text, end };
    }
    if (source.startsWith('{{', at)) {
      const end = endOfBraces(source, at);
      // A backslash in front of braces is one character of text; Handlebars would take it for an escape.
      template += (template.endsWith('\\') ? '\\' : '') + source.slice(at, end);
      isTemplate = true;
      text += source.slice(at, end);
      at = end;
      continue;
    }
    const [plain, literal, length] = textAt(source, at);
    text += plain;
    template += literal;
    at += length;
  }
  throw new ExpressionError('the string is not closed', open);
}

/** One character of text: itself, how a template writes it, and how long it is in the source. */
function textAt(source: string, at: number): readonly [plain: string, literal: string, length: number] {
  const character = source[at] ?? '';
  if (character !== '\\') return [character, character, 1];
  if (source.startsWith('\\{{', at)) return ['{{', '\\{{', 3];
  const escaped = source[at + 1] ?? '';
  const plain = escapes[escaped] ?? escaped;
  return [plain, plain, 2];
}

/** Behind the braces that close those at `open`; strings and bracketed segments within may hold braces. */
function endOfBraces(source: string, open: number): number {
  const close = source.startsWith('{{{', open) ? '}}}' : '}}';
  for (let at = open + close.length; at < source.length; at++) {
    if (source.startsWith(close, at)) return at + close.length;
    const closer = { '"': '"', "'": "'", '[': ']' }[source[at] ?? ''];
    const end = closer === undefined ? -1 : source.indexOf(closer, at + 1);
    if (end > 0) at = end;
  }
  throw new ExpressionError('{{ is not closed; end it with }}, or write \\{{ for braces in a text', open);
}

function parseAt(source: string, offset: number): Template {
  try {
    return parseTemplate(source);
  } catch (error) {
    if (error instanceof TemplateError) throw new ExpressionError(error.message, offset + error.offset);
    throw error;
  }
}

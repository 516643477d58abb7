import Handlebars from 'handlebars';
import type { Scanned } from './scan.ts';
import { TemplateError } from './template-error.ts';

type Location = hbs.AST.SourceLocation | undefined;

/** Characters of a wrong text that a message shows. */
const shownLength = 40;

/** State of the parser when it fails; the published types leave it out. */
interface FailedLexer {
  readonly match: string;
  readonly matched: string;
}

// An environment of our own: nothing that others register on the shared one can reach our templates.
const handlebars = Handlebars.create();

/**
 * Parses with the Handlebars grammar, whitespace control included. Only the parser is used: its compiler would generate
 * and run code, and its runtime has neither a budget nor typed values.
 * @throws TemplateError with the offset in the source.
 */
export function parseHandlebars(scanned: Scanned): hbs.AST.Program {
  // A tree in place of a text would reach the compiler unchecked, so the type is checked at run time as well.
  if (typeof scanned.text !== 'string') throw new TemplateError('a template must be a string', 0);
  try {
    return handlebars.parse(scanned.text);
  } catch (error) {
    throw describe(error, scanned);
  }
}

/** Offset in the source of a node of the tree. */
export function offsetOf(location: Location, scanned: Scanned): number {
  if (location === undefined) return 0;
  let lineStart = 0;
  for (let line = 1; line < location.start.line; line++) {
    const end = /\r\n?|\n/g;
    end.lastIndex = lineStart;
    const match = end.exec(scanned.text);
    lineStart = match === null ? lineStart : match.index + match[0].length;
  }
  return scanned.toSource(lineStart + location.start.column);
}

function describe(error: unknown, scanned: Scanned): TemplateError {
  const message = error instanceof Error ? error.message : String(error);
  const located = / - (\d+):(\d+)$/.exec(message);
  if (located !== null) {
    const start = { line: Number(located[1]), column: Number(located[2]) };
    const offset = offsetOf({ source: '', start, end: start }, scanned);
    return new TemplateError(message.slice(0, located.index), offset);
  }
  const { lexer } = (handlebars as unknown as { Parser: { lexer: FailedLexer } }).Parser;
  const end = lexer.matched.length;
  if (message.startsWith('Lexical error')) return new TemplateError('unexpected character', scanned.toSource(end));
  const offset = scanned.toSource(end - lexer.match.length);
  if (lexer.match === '') return new TemplateError('unexpected end of the template; is a block not closed?', offset);
  return new TemplateError(`unexpected ${JSON.stringify(lexer.match.slice(0, shownLength))}`, offset);
}

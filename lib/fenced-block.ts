interface FencedBlock {
  /** The first word behind the fence, in lower case; '' where there is none. */
  readonly language: string;
  readonly content: string;
}

interface Opening {
  /** Blanks before the line of the fence. */
  readonly indent: number;
  readonly fence: string;
  readonly language: string;
  /** Where the content begins. */
  readonly from: number;
}

/** A fence and what follows on its line. Backticks with a backtick behind them are a quotation within words. */
const opening = /^([ \t]{0,8})(`{3,16}(?=[^`]*$)|~{3,16}(?!~))/;

/** A fence at the end of a line of words; one without a language opens only behind a colon. */
const openingBehindWords = /(?<!`)(`{3,16})([\w+-]*)$/;

const closing = /^([ \t]*)(`{3,}|~{3,})$/;

/** As in CommonMark. */
const deeperClosing = 3;

/**
 * The fenced blocks in a text of a model, in their order. A fence counts at the start of a line. A line closes the block where
 * it has the fence alone, as long as the one that opened or longer, and is indented no deeper: a text within the block may have
 * fences of its own. A last block may also end in the middle of a line. `isLoose` is for a content without lines of fences, as
 * JSON is: a fence may also open behind words, and the one that closes may be three blanks deeper. Each character is looked at a
 * fixed number of times, since the text may be a stranger's.
 */
export function* fencedBlocks(text: string, isLoose = false): Generator<FencedBlock> {
  let open: Opening | undefined;
  for (let start = 0, next = 0; start < text.length; start = next) {
    next = afterLine(text, start);
    const line = text.slice(start, next).trimEnd();
    if (open === undefined) open = openingAt(line, next, isLoose);
    else if (closes(open, line, isLoose)) {
      yield { language: open.language, content: text.slice(open.from, Math.max(open.from, start - 1)) };
      open = undefined;
    }
  }
  const end = open === undefined ? -1 : text.lastIndexOf(open.fence);
  if (open !== undefined && end >= open.from) yield { language: open.language, content: text.slice(open.from, end) };
}

/** Where the line behind the one at `at` begins. */
function afterLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

function openingAt(line: string, from: number, isLoose: boolean): Opening | undefined {
  const [start, { length: indent } = '', fence] = opening.exec(line) ?? [];
  if (start === undefined || fence === undefined) return isLoose ? openingBehind(line, from) : undefined;
  const [language = ''] = line.slice(start.length).trim().toLowerCase().split(/\s/, 1);
  return { indent, fence, language, from };
}

function openingBehind(line: string, from: number): Opening | undefined {
  const found = openingBehindWords.exec(line);
  const [, fence = '', language = ''] = found ?? [];
  const words = line.slice(0, found?.index ?? 0).trimEnd();
  if (words === '' || words.includes('```') || (language === '' && !words.endsWith(':'))) return undefined;
  return { indent: line.length - line.trimStart().length, fence, language: language.toLowerCase(), from };
}

function closes({ indent, fence }: Opening, line: string, isLoose: boolean): boolean {
  const [, blanks = '', found = ''] = closing.exec(line) ?? [];
  return found.startsWith(fence) && blanks.length <= indent + (isLoose ? deeperClosing : 0);
}

/** The content of the first fenced block that has no language or one of these. */
export function fencedBlock(text: string, languages: readonly string[]): string | undefined {
  for (const { language, content } of fencedBlocks(text))
    if (language === '' || languages.includes(language)) return content;
  return undefined;
}

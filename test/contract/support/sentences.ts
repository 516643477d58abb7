/** A sentence, with the line on which its paragraph begins. */
interface Sentence {
  readonly line: number;
  readonly text: string;
}

/** Code and links count as one word each. */
const plainOf = (text: string): string =>
  text
    .replaceAll(/`[^`]*`/g, '`')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/https?:\S+/g, '`');

const endOfSentence = /(?<=[.!?][)"'*]*)\s+(?=[A-Z"'(*`\d])/;

/** The sentences of a text without blocks. */
export const sentencesIn = (text: string): readonly string[] =>
  plainOf(text)
    .split(endOfSentence)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');

/** The words of a sentence; signs alone are none. */
export const wordsOf = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length;

/** A cell of a table is a list: a semicolon ends a part of it, and so does a comma before code. */
const partsOf = (row: string): readonly string[] => plainOf(row).split(/(?<!\\)\||;\s|<br>|,\s(?=`)/);

const isList = (line: string): boolean => /^\s*(?:[-*>]|\d+\.)\s/.test(line);

/** The sentences of a Markdown page: of paragraphs, items of lists, and cells of tables, without code and headings. */
export function sentencesOf(page: string): readonly Sentence[] {
  const found: Sentence[] = [];
  let paragraph: { line: number; lines: string[] } = { line: 0, lines: [] };
  let isCode = false;
  const add = (line: number, text: string): void => {
    found.push(...sentencesIn(text).map((sentence) => ({ line, text: sentence })));
  };
  const end = (): void => {
    // The links of an overview are parts of a list as well.
    for (const part of paragraph.lines.join(' ').split(' · ')) add(paragraph.line, part);
    paragraph = { line: 0, lines: [] };
  };
  for (const [index, line] of page.split('\n').entries()) {
    const isFence = /^\s*(?:```|~~~)/.test(line);
    const isRow = /^\s*\|/.test(line);
    if (isFence) isCode = !isCode;
    const isBetween = isFence || /^(?:\s*$|#)/.test(line);
    if (isBetween || isRow || isList(line)) end();
    const isIndentedCode = paragraph.lines.length === 0 && /^ {4}/.test(line);
    if (isBetween || isCode || isIndentedCode) continue;
    if (isRow) for (const part of partsOf(line)) add(index + 1, part);
    else {
      paragraph.lines.push(line.replace(/^\s*(?:(?:[-*>]|\d+\.)\s+)?/, ''));
      if (paragraph.line === 0) paragraph.line = index + 1;
    }
  }
  end();
  return found;
}

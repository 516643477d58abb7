interface FencedBlock {
  /** In lower case; '' where the block names none. */
  readonly language: string;
  readonly content: string;
}

/** A fence and what follows on its line. One with a backtick behind it is a quotation within words. */
const opening = /^([ \t]{0,8})(`{3,16})([^`]*)$/;

/**
 * The fenced blocks in a text of a model, in their order. A fence counts at the start of a line alone, and the one that closes
 * is indented as the one that opens: a text within the block may have fences of its own. A last block may also end in the
 * middle of a line. Each character is looked at a fixed number of times, since the text may be a stranger's.
 */
export function* fencedBlocks(text: string): Generator<FencedBlock> {
  for (let from = 0, lineEnd = text.indexOf('\n'); lineEnd !== -1; lineEnd = text.indexOf('\n', from)) {
    const [, indent = '', ticks, language = ''] = opening.exec(text.slice(from, lineEnd)) ?? [];
    from = lineEnd + 1;
    if (ticks === undefined) continue;
    const atLine = text.indexOf(`\n${indent}${ticks}`, lineEnd);
    const end = atLine === -1 ? text.lastIndexOf(ticks) : atLine;
    if (end < lineEnd) return;
    yield { language: language.trim().toLowerCase(), content: text.slice(from, end) };
    if (atLine === -1) return;
    from = afterLine(text, end + 1);
  }
}

/** Where the line behind the one at `at` begins. */
function afterLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** The content of the first fenced block that has no language or one of these. */
export function fencedBlock(text: string, languages: readonly string[]): string | undefined {
  for (const { language, content } of fencedBlocks(text))
    if (language === '' || languages.includes(language)) return content;
  return undefined;
}

const fence = '```';

interface Form {
  /** Beside none, in lower case. */
  readonly languages: readonly string[];
  /** The text that ends a block. Default: a fence, wherever it is. */
  readonly end?: string;
}

/**
 * The content of the first fenced block in a text of a model that has no language or one of these. Each character is looked
 * at a fixed number of times, since the text may be a stranger's: an expression for it backtracks.
 */
export function fencedBlock(text: string, { languages, end: closer = fence }: Form): string | undefined {
  let from = text.indexOf(fence);
  while (from !== -1) {
    const lineEnd = text.indexOf('\n', from);
    const end = lineEnd === -1 ? -1 : text.indexOf(closer, lineEnd);
    if (end === -1) return undefined;
    const language = text
      .slice(from + fence.length, lineEnd)
      .trim()
      .toLowerCase();
    if (language === '' || languages.includes(language)) return text.slice(lineEnd + 1, end);
    from = text.indexOf(fence, end + closer.length);
  }
  return undefined;
}

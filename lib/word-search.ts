import { createLoopTurns } from './loop-turns.ts';
import { createWordMatcher } from './word-matcher.ts';

/** Characters that are read in one turn of the event loop: some tenths of a millisecond, since many searches share a turn. */
const charactersPerTurn = 16_384;

/** Whether a text holds each word of the search, whatever the letters' case. */
type WordSearch = (text: string) => Promise<boolean>;

/**
 * The one way in which lists are searched by words. Texts are read in linear time, and other requests are served between
 * them; no words are in every text.
 */
export function createWordSearch(words: string | undefined): WordSearch {
  if (words === undefined || words.trim() === '') return async () => true;
  const isHolding = createWordMatcher(words);
  const spend = createLoopTurns(charactersPerTurn);
  return async (text) => {
    await spend(text.length);
    return isHolding(text);
  };
}

/** The rows whose texts hold each word. */
export async function rowsHolding<Row>(
  rows: Iterable<Row>,
  words: string | undefined,
  textOf: (row: Row) => string,
): Promise<Row[]> {
  const isHolding = createWordSearch(words);
  const found: Row[] = [];
  for (const row of rows) if (await isHolding(textOf(row))) found.push(row);
  return found;
}

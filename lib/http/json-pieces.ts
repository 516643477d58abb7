import { jsonText } from '../json-text.ts';

/** A piece has so many characters, and one value more at most. */
export const jsonPieceLength = 65_536;

/**
 * The text of `jsonText`, piece by piece: a list of thousands of rows takes longer than a turn of the event loop may. Parted are
 * the lists of the outermost object.
 */
export function* jsonPieces(value: unknown): Generator<string> {
  let piece = '';
  for (const part of partsOf(value)) {
    piece += part;
    if (piece.length < jsonPieceLength) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !('toJSON' in value);

function* partsOf(value: unknown): Generator<string> {
  if (!isPlainObject(value)) {
    yield jsonText(value) ?? '';
    return;
  }
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    const isParted = Array.isArray(member) && member.length > 0;
    const text = isParted ? '' : jsonText(member);
    if (text === undefined) continue;
    yield `${before}${JSON.stringify(name)}:${text}`;
    if (isParted) yield* itemsOf(member);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

function* itemsOf(items: readonly unknown[]): Generator<string> {
  let before = '[';
  for (const item of items) {
    // As within a list that is written whole.
    yield `${before}${jsonText(item) ?? 'null'}`;
    before = ',';
  }
  yield ']';
}

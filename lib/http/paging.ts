import { Type } from 'typebox';
import { limits } from '../../crds/limits.ts';
import { uidPattern } from '../../crds/uid.ts';
import type { ErrorContract } from './contract.ts';
import { invalidField } from './request-errors.ts';

/** The query parameter for the page behind another one. */
export const cursorQuery = Type.Optional(
  Type.String({ minLength: 1, maxLength: 1_024, description: '`next_cursor` of the page before.' }),
);

/** The query parameters of a list that comes in pages. */
export const pageQuery = (rows: string, defaultLimit: number = limits.pageSizeDefault) => ({
  limit: Type.Integer({
    minimum: 1,
    default: defaultLimit,
    description: `${rows} a page; more than ${limits.pageSizeMax} counts as ${limits.pageSizeMax}.`,
  }),
  cursor: cursorQuery,
});

/** The query parameter of a list that can be searched. */
export const wordsQuery = (rows: string) =>
  Type.Optional(
    Type.String({
      maxLength: limits.searchLength,
      description: `Only ${rows} whose name and description hold each of these words.`,
    }),
  );

export const nextCursor = Type.Union([Type.String(), Type.Null()], { description: 'Null on the last page.' });

export const unknownCursor: ErrorContract = {
  status: 400,
  error: 'invalid_request',
  when: 'The cursor was not given by this list.',
};

/** A place in a list as text that clients hand back. */
export interface Cursor<Key> {
  encode(key: Key): string;
  /** @throws HttpError 400 for what `encode` has not made. */
  decode(cursor: string | undefined): Key | undefined;
}

/** The result of `parse` counts only where `write` makes the same text of it. */
export function createCursor<Key>(write: (key: Key) => string, parse: (text: string) => Key | undefined): Cursor<Key> {
  const encode = (key: Key): string => Buffer.from(write(key)).toString('base64url');
  return {
    encode,
    decode(cursor) {
      if (cursor === undefined) return undefined;
      const key = parse(Buffer.from(cursor, 'base64url').toString());
      if (key !== undefined && encode(key) === cursor) return key;
      throw invalidField('query.cursor', 'is not a cursor of this list; give next_cursor as it came');
    },
  };
}

/** The same for one list, named by a short tag: a cursor of another list is refused (requirements AMB-097). */
export function createListCursor<Key>(
  list: string,
  write: (key: Key) => string,
  parse: (text: string) => Key | undefined,
): Cursor<Key> {
  const tag = `${list}:`;
  return createCursor(
    (key) => tag + write(key),
    (text) => (text.startsWith(tag) ? parse(text.slice(tag.length)) : undefined),
  );
}

/** A position in a list by time. */
export interface TimeKey {
  /** RFC 3339 in UTC, always to the same fraction of a second. */
  readonly at: string;
  readonly id: string;
}

const timeKey = new RegExp(
  `^(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?Z)/(${uidPattern.slice(1, -1)})$`,
);

export const createTimeCursor = (list: string): Cursor<TimeKey> =>
  createListCursor(
    list,
    ({ at, id }) => `${at}/${id}`,
    (text) => {
      const [, at, id] = timeKey.exec(text) ?? [];
      return at === undefined || id === undefined ? undefined : { at, id };
    },
  );

/** A position in a list by one text, such as a name that is unique. */
export const createTextCursor = (list: string): Cursor<string> =>
  createListCursor(
    list,
    (text) => text,
    (text) => (text === '' ? undefined : text),
  );

export interface PageOptions<Key> {
  readonly limit: number;
  /** The last row of the page before. */
  readonly after: Key | undefined;
}

export interface Page<Row, Key> {
  readonly rows: readonly Row[];
  /** Undefined on the last page. */
  readonly next: Key | undefined;
}

/**
 * The rows behind `after`, in order; without a limit all of them. Rows that appear or disappear between two pages move no other.
 */
export function pageOf<Row, Key>(
  all: readonly Row[],
  order: { readonly keyOf: (row: Row) => Key; readonly compare: (a: Key, b: Key) => number },
  { limit, after }: Omit<PageOptions<Key>, 'limit'> & { readonly limit: number | undefined },
): Page<Row, Key> {
  const size = limit === undefined ? all.length : Math.min(limit, limits.pageSizeMax);
  const found = all
    .map((row) => ({ row, key: order.keyOf(row) }))
    .filter(({ key }) => after === undefined || order.compare(key, after) > 0)
    .toSorted((a, b) => order.compare(a.key, b.key));
  const page = found.slice(0, size);
  return { rows: page.map(({ row }) => row), next: found.length > size ? page.at(-1)?.key : undefined };
}

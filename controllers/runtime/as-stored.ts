import { isJsonObject } from '../../lib/json-object.ts';
import { addedItems } from './status-patch.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * JSON escapes no surrogate but one without its other half, of which the API server makes another character. An even number of
 * backslashes before it are a text of their own.
 */
const halfCharacter = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** A text that the API server stores otherwise than it was sent. */
class Unforeseen extends Error {
  override readonly name = 'Unforeseen';
}

/**
 * The status that the API server holds once `statusPatch` of the two was written. Unchanged parts are those from
 * before, and the rest is read from its JSON. So no value of the decision is kept, nor a long text that one is a part
 * of. It presumes a status that the schema of its kind neither prunes nor fills in. Undefined where the server would
 * store a text otherwise.
 */
export function asStored(before: unknown, after: object): object | undefined {
  try {
    return stored(before, after) as object;
  } catch (error) {
    if (error instanceof Unforeseen) return undefined;
    throw error;
  }
}

function stored(before: unknown, after: unknown): unknown {
  if (before === after) return before;
  if (isJsonObject(before) && isJsonObject(after)) return storedFields(before, after);
  if (Array.isArray(before) && Array.isArray(after)) return storedList(before, after);
  return copied(after);
}

/** The value that comes of its JSON. */
function copied<T>(value: T): T {
  const text = JSON.stringify(value);
  if (halfCharacter.test(text)) throw new Unforeseen();
  return JSON.parse(text) as T;
}

/** Any name may be a member, also `__proto__`. */
function storedFields(before: Fields, after: Fields): Fields {
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(after)) {
    if (value === undefined) continue;
    if (!name.isWellFormed()) throw new Unforeseen();
    fields.push([name, stored(Object.hasOwn(before, name) ? before[name] : undefined, value)]);
  }
  return Object.fromEntries(fields);
}

function storedList(before: readonly unknown[], after: readonly unknown[]): unknown {
  const added = addedItems(before, after);
  return added === undefined ? copied(after) : [...before, ...copied(added)];
}

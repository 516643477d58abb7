import { Search } from './search.ts';
import { type TextRange, unescapedJson } from './unescaped-json.ts';

/** A shorter secret would take parts out of texts that do not hold it; a secret of so few characters is none. */
const shortest = 8;
const mark = Buffer.from('[secret]');

/** Places of one secret in a body. An answer of honest servers holds it once or twice. */
export const secretPlaces = 256;

/**
 * A body without the secrets of the call that it answers, as they were sent and in each way in which JSON may write them:
 * servers escape different characters. Some send back what they got, and the caller of a tool never holds a credential (issue 13).
 * Undefined where one of them is there more than `secretPlaces` times: each place takes memory, and a body has room for millions.
 */
export function withoutSecrets(body: Buffer, secrets: readonly string[]): Buffer | undefined {
  const hidden = secrets.filter((secret) => secret.length >= shortest).map((secret) => Buffer.from(secret));
  if (hidden.length === 0) return body;
  const plain = found(body, hidden);
  const unescaped = body.includes('\\') ? unescapedJson(body) : undefined;
  const escaped = unescaped === undefined ? [] : found(unescaped.text, hidden);
  if (plain === undefined || escaped === undefined) return undefined;
  const originals = escaped.length === 0 ? [] : (unescaped?.placesOf(escaped) ?? []);
  return marked(body, apart([...plain, ...originals]));
}

/** Places of all secrets in their order, which do not overlap. */
function found(text: Buffer, secrets: readonly Buffer[]): readonly TextRange[] | undefined {
  const places: TextRange[] = [];
  for (const secret of secrets) {
    const search = new Search(text, secret);
    let count = 0;
    for (let at = search.next(0); at >= 0; at = search.next(at + secret.length)) {
      count += 1;
      if (count > secretPlaces) return undefined;
      places.push([at, at + secret.length]);
    }
  }
  return apart(places);
}

/** One place that covers those that overlap: a secret may be a part of another. */
function apart(places: readonly TextRange[]): readonly TextRange[] {
  const covering: TextRange[] = [];
  for (const [from, to] of places.toSorted((a, b) => a[0] - b[0])) {
    const last = covering.at(-1);
    if (last === undefined || from >= last[1]) covering.push([from, to]);
    else covering[covering.length - 1] = [last[0], Math.max(last[1], to)];
  }
  return covering;
}

function marked(body: Buffer, places: readonly TextRange[]): Buffer {
  if (places.length === 0) return body;
  const parts: Buffer[] = [];
  let end = 0;
  for (const [from, to] of places) {
    parts.push(body.subarray(end, from), mark);
    end = to;
  }
  return Buffer.concat([...parts, body.subarray(end)]);
}

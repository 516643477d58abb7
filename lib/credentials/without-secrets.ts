import { setImmediate } from 'node:timers/promises';
import { placesOf } from './search.ts';
import { type TextRange, unescapedJson } from './unescaped-json.ts';

/** A shorter secret would take parts out of texts that do not hold it; a secret of so few characters is none. */
const shortest = 8;
const mark = Buffer.from('[secret]');

/** Places of one secret in a body. An answer of honest servers holds it once or twice. */
export const secretPlaces = 256;

/**
 * A body without the secrets of the call that it answers, as they were sent and in each way in which JSON may write them:
 * servers escape different characters. Some send back what they got, and the caller of a tool never holds a credential (issue 13).
 * Other work has its turn between parts of the search. Undefined where one of them is there more than `secretPlaces` times:
 * each place takes memory, and a body has room for millions.
 */
export async function withoutSecrets(body: Buffer, secrets: readonly string[]): Promise<Buffer | undefined> {
  const hidden = secrets.filter((secret) => secret.length >= shortest).map((secret) => Buffer.from(secret));
  if (hidden.length === 0) return body;
  const plain = await found(body, hidden);
  if (plain === undefined) return undefined;
  const originals = body.includes('\\') ? await escaped(body, hidden) : [];
  return originals === undefined ? undefined : marked(body, apart([...plain, ...originals]));
}

/** Places of the body whose escapes mean secrets. */
async function escaped(body: Buffer, secrets: readonly Buffer[]): Promise<readonly TextRange[] | undefined> {
  const unescaped = unescapedJson(body);
  await setImmediate();
  const places = await found(unescaped.text, secrets);
  return places === undefined || places.length === 0 ? places : unescaped.placesOf(places);
}

/** Places of all secrets in their order, which do not overlap. */
async function found(text: Buffer, secrets: readonly Buffer[]): Promise<readonly TextRange[] | undefined> {
  const places: TextRange[] = [];
  for (const secret of secrets) {
    let count = 0;
    for (const at of placesOf(text, secret)) {
      if (at === undefined) await setImmediate();
      else places.push([at, at + secret.length]);
      if (at !== undefined && (count += 1) > secretPlaces) return undefined;
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

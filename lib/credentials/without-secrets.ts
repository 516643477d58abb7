import { type TextRange, unescapedJson } from './unescaped-json.ts';

/** A shorter secret would take parts out of texts that do not hold it; a secret of so few characters is none. */
const shortest = 8;
const mark = Buffer.from('[secret]');

/**
 * A body without the secrets of the call that it answers, as they were sent and in each way in which JSON may write them:
 * servers escape different characters. Some send back what they got, and the caller of a tool never holds a credential (issue 13).
 */
export function withoutSecrets(body: Buffer, secrets: readonly string[]): Buffer {
  // The longest first: one may be a part of another.
  const hidden = secrets.filter((secret) => secret.length >= shortest).toSorted((a, b) => b.length - a.length);
  const secretBytes = hidden.map((secret) => Buffer.from(secret));
  const plain = secretBytes.reduce((rest, secret) => marked(rest, found(rest, secret)), body);
  return plain.includes('\\') ? withoutEscaped(plain, secretBytes) : plain;
}

function withoutEscaped(body: Buffer, secrets: readonly Buffer[]): Buffer {
  let rest = body;
  let unescaped = unescapedJson(rest);
  // Each secret once: one that is the mark itself would be found again and again.
  for (const secret of secrets) {
    const places = found(unescaped.text, secret);
    if (places.length === 0) continue;
    rest = marked(rest, unescaped.placesOf(places));
    unescaped = unescapedJson(rest);
  }
  return rest;
}

function found(text: Buffer, secret: Buffer): readonly TextRange[] {
  const places: TextRange[] = [];
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length))
    places.push([at, at + secret.length]);
  return places;
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

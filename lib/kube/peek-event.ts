import type { KubeObject } from './objects.ts';

const [quote, backslash, open, close] = [0x22, 0x5c, 0x7b, 0x7d];
/** Lines of fewer bytes are parsed sooner than looked into. */
const peekedBytes = 16 * 1024;
/** Metadata with more bytes is not looked for: it has 256 KiB of annotations at most, and field ownership besides. */
const metadataBytes = 512 * 1024;
/** The beginning of a line has fewer bytes: two fixed members and two short names. */
const beginningBytes = 512;
/** How the API server begins the event of a change; built-in kinds have `kind` first. */
const beginning =
  /^\{"type":"(?:ADDED|MODIFIED)","object":\{(?:"apiVersion":"[^"\\]+","kind":"[^"\\]+"|"kind":"[^"\\]+","apiVersion":"[^"\\]+"),"metadata":(?=\{)/;

/**
 * The object of a large event with nothing but its metadata, found without reading the rest: an object of 1 MiB takes tens of
 * milliseconds to parse. Undefined where the line is small or begins otherwise; then it is parsed as a whole. Exact: it
 * reads from the first byte and skips each text as a whole, so no text inside the object passes for its metadata.
 */
export function peekChanged(line: Buffer): KubeObject | undefined {
  if (line.length < peekedBytes) return undefined;
  const begun = beginning.exec(line.toString('latin1', 0, beginningBytes))?.[0];
  if (begun === undefined) return undefined;
  const end = endOfObject(line, begun.length);
  if (end === undefined) return undefined;
  try {
    return { metadata: JSON.parse(line.toString('utf8', begun.length, end)) as KubeObject['metadata'] };
  } catch {
    return undefined;
  }
}

/** The place behind the object that begins at `start`; undefined where it is too far away. */
function endOfObject(line: Buffer, start: number): number | undefined {
  const until = Math.min(line.length, start + metadataBytes);
  let depth = 0;
  for (let at = start; at < until; at += 1) {
    const byte = line[at];
    if (byte === quote) at = endOfText(line, at, until);
    else if (byte === open) depth += 1;
    else if (byte === close && --depth === 0) return at + 1;
  }
  return undefined;
}

/** The place of the quote that ends the text which begins at `start`; `until` where there is none. */
function endOfText(line: Buffer, start: number, until: number): number {
  let at = line.indexOf(quote, start + 1);
  while (at >= 0 && isEscaped(line, at)) at = line.indexOf(quote, at + 1);
  return at < 0 ? until : at;
}

/** An even number of backslashes are escaped themselves. */
function isEscaped(line: Buffer, at: number): boolean {
  let before = at;
  while (line[before - 1] === backslash) before -= 1;
  return (at - before) % 2 === 1;
}

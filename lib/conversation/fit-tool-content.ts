import { cutText } from '../cut-text.ts';
import { isJsonObject } from '../json-object.ts';
import { conversationLimits } from './limits.ts';

/**
 * The answer of a tool within the bounds of a conversation, as characters and as JSON: control characters take six bytes
 * each there. A JSON object remains one: its longest texts lose their ends, each with a mark (spec 3 §10.5, AMB-137).
 * Takes one pass over a long answer, however it is built and nested.
 */
export function fitToolContent(content: string): string {
  if (fits(content)) return content;
  return fitObject(content) ?? fitText(content);
}

const fits = (content: string): boolean =>
  content.length <= conversationLimits.toolContentLength &&
  Buffer.byteLength(JSON.stringify(content)) <= conversationLimits.toolContentBytes;

function fitText(content: string): string {
  for (let length: number = conversationLimits.toolContentLength; ; length = Math.floor(length / 2)) {
    const kept = head(content, length);
    if (fits(kept)) return kept;
  }
}

function head(text: string, length: number): string {
  if (text.length <= length) return text;
  const mark = (left: number): string => `\n[cut: ${left} more characters]`;
  const kept = cutText(text, Math.max(0, length - mark(text.length).length)).toWellFormed();
  return kept + mark(text.length - kept.length);
}

/** A text of this length in the JSON is never cut. */
const shortLength = 1_024;

/**
 * Undefined for anything but an object whose texts make up what is too long. No value is made of a long answer: that would
 * take the time and the memory of each of its parts, and its nesting may be deeper than can be written again.
 */
function fitObject(content: string): string | undefined {
  const parts = partsOf(content);
  if (parts === undefined) return undefined;
  const most = conversationLimits.toolContentLength;
  for (let length: number = most; length >= shortLength; length = Math.floor(length / 2)) {
    if (lengthOf(parts, length) > most) continue;
    const kept = parts.map((part) => (typeof part === 'string' ? part : shortened(content, part, length))).join('');
    const sound = kept.toWellFormed();
    if (fits(sound)) return isJsonObject(parsed(sound)) ? sound : undefined;
  }
  return undefined;
}

/** A long text of the JSON, between its quotes. */
interface LongText {
  readonly from: number;
  readonly to: number;
  /** Length of the text that the JSON means. */
  readonly units: number;
}

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;

/** Long texts and what is between them; undefined where that alone is too long. */
function partsOf(content: string): readonly (string | LongText)[] | undefined {
  if (!content.trimStart().startsWith('{')) return undefined;
  const parts: (string | LongText)[] = [];
  let [from, kept, at] = [0, 0, 0];
  const keep = (to: number): void => {
    if (to > from) parts.push(content.slice(from, to));
    kept += to - from;
  };
  while (at < content.length) {
    if (content.charCodeAt(at) === quote) {
      const start = at + 1;
      const { end: to, units } = readText(content, start, content.length);
      if (to - start > shortLength) {
        keep(start);
        parts.push({ from: start, to, units });
        from = to;
      }
      at = to + 1;
    } else {
      const last = lastSpace(content, at);
      // One of several spaces is enough.
      if (last > at) {
        keep(at);
        from = last;
      }
      at = last + 1;
    }
    if (kept + at - from > conversationLimits.toolContentLength) return undefined;
  }
  keep(content.length);
  return parts;
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** The last of the spaces that begin here; `at` where none or one does. */
function lastSpace(content: string, at: number): number {
  let end = at;
  while (isSpace(content.charCodeAt(end))) end += 1;
  return Math.max(at, end - 1);
}

const lengthOf = (parts: readonly (string | LongText)[], most: number): number =>
  parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : Math.min(part.to - part.from, most)), 0);

/** Reads a text of JSON to its closing quote, or to the last unit that ends before `most`. `last` is where that begins. */
function readText(content: string, from: number, most: number) {
  let [end, last, units] = [from, from, 0];
  while (end < most) {
    const code = content.charCodeAt(end);
    if (code === quote) break;
    const next = end + (code === backslash ? escapeLength(content, end) : 1);
    if (next > most) break;
    last = end;
    end = next;
    units += 1;
  }
  return { end, last, units };
}

const escapeLength = (content: string, at: number): number => (content.charCodeAt(at + 1) === letterU ? 6 : 2);

/** The beginning of a text as JSON, with a mark. */
function shortened(content: string, { from, to, units }: LongText, length: number): string {
  if (to - from <= length) return content.slice(from, to);
  const mark = (left: number): string => `\\n[cut: ${left} more characters]`;
  const read = readText(content, from, from + length - mark(units).length);
  const isSplit = highHalf.test(content.slice(read.last, read.end));
  const kept = content.slice(from, isSplit ? read.last : read.end);
  return kept + mark(units - read.units + (isSplit ? 1 : 0));
}

/** First half of a pair, plain or escaped. */
const highHalf = /^(?:[\ud800-\udbff]|\\u[dD][89abAB])/;

function parsed(content: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch {
    return undefined;
  }
}

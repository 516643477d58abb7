import { limits } from '../../crds/limits.ts';
import type { Json } from '../../crds/schema/parts.ts';
import { AppError } from '../../lib/errors.ts';
import { isTooCostly, jsonCost, tooCostly } from '../../lib/http/json-cost.ts';
import { JsonTextError, parseStrictJson } from '../../lib/http/strict-json.ts';

/**
 * Text as the content of a stimulus: the value where it is JSON, the text itself where it is not (requirements
 * AMB-041). JSON that readers understand in different ways stays text, so that nothing of it is lost. Examples are a
 * duplicate key, a whole number beyond 2^53, values nested deeper than 64 levels. Throws AppError `limit_exceeded` for
 * too large a value.
 */
export function contentOfText(text: string): Json {
  assertFits(Buffer.byteLength(text));
  assertAffordable(text);
  try {
    return parseStrictJson(text) as Json;
  } catch (error) {
    if (error instanceof JsonTextError) return text;
    throw error;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const byteOrderMark = '\ufeff';

/** Bytes of any content type as content: JSON, else UTF-8 text, else `{base64, content_type}`. */
export function contentOfBytes(bytes: Uint8Array, contentType?: string): Json {
  assertFits(bytes.byteLength);
  const text = textOf(bytes);
  if (text !== undefined) return contentOfMarkedText(text);
  return opaqueContent(bytes, contentType);
}

/** Bytes as they are, `{base64, content_type}`, whatever they may be. */
export function opaqueContent(bytes: Uint8Array, contentType?: string): Json {
  assertFits(bytes.byteLength);
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return { base64, content_type: contentType ?? 'application/octet-stream' };
}

/** A byte order mark is no part of the JSON behind it, and a part of any other text: nothing of that is lost. */
function contentOfMarkedText(text: string): Json {
  const unmarked = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  const content = contentOfText(unmarked);
  return content === unmarked ? text : content;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Throws AppError `limit_exceeded` where the text, read as JSON, would take more memory than one request may have. */
function assertAffordable(text: string): void {
  if (!/^\s*[[{]/.test(text) || !isTooCostly(jsonCost(text))) return;
  throw new AppError('limit_exceeded', `the content ${tooCostly}`, { reason: 'ContentTooLarge' });
}

/** Throws AppError `limit_exceeded` where something of that size cannot be the input of an execution. */
export function assertFits(bytes: number): void {
  const { executionInputBytes: most } = limits;
  if (bytes <= most) return;
  throw new AppError('limit_exceeded', `the content takes ${bytes} bytes; an execution holds at most ${most}`, {
    reason: 'ContentTooLarge',
  });
}

import { cutText } from '../cut-text.ts';
import { isJsonObject } from '../json-object.ts';
import { conversationLimits } from './limits.ts';

/**
 * The answer of a tool within the bounds of a conversation, as characters and as JSON: control characters take six bytes
 * each there. A JSON object remains one: its longest texts lose their ends, each with a mark (spec 3 §10.5, AMB-137).
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

/** Undefined for anything but an object whose texts make up what is too long. */
function fitObject(content: string): string | undefined {
  const value = parsed(content);
  if (!isJsonObject(value)) return undefined;
  for (let length: number = conversationLimits.toolContentLength; length >= 1_024; length = Math.floor(length / 2)) {
    const kept = JSON.stringify(value, (_name, field: unknown) =>
      typeof field === 'string' ? head(field, length) : field,
    );
    if (fits(kept)) return kept;
  }
  return undefined;
}

function head(text: string, length: number): string {
  if (text.length <= length) return text;
  const mark = (left: number): string => `\n[cut: ${left} more characters]`;
  const kept = cutText(text, Math.max(0, length - mark(text.length).length)).toWellFormed();
  return kept + mark(text.length - kept.length);
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch {
    return undefined;
  }
}

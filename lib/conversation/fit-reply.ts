import { cutText } from '../cut-text.ts';
import type { ModelReply } from '../models/models.ts';
import { conversationLimits } from './limits.ts';

const nameMax = 128;

/** Bytes that a text takes in a record, which is JSON in UTF-8: a control character takes six. */
export const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/**
 * A reply within our bounds, so that its record, with the tokens that it took, fits a message of the event bus. Calls get ids of
 * our own: a provider, or a substitute for one, may repeat ids, and two calls with one id would be one.
 */
export function fitReply(reply: ModelReply, call: number) {
  const { content, tool_calls: calls, ...rest } = reply;
  const text = fitText(content.slice(0, conversationLimits.replyLength).toWellFormed());
  let room = conversationLimits.recordBytes - jsonBytes(text);
  let units: number = conversationLimits.replyArgumentsLength;
  const bounded = calls.slice(0, conversationLimits.callsPerReply).map(({ name: whole, arguments: given }, index) => {
    const name = whole.slice(0, nameMax);
    const isShort = given.length <= Math.min(conversationLimits.argumentsLength, units, room - namesBytes);
    const bytes = isShort ? jsonBytes(given) : 0;
    const fits = isShort && bytes <= room - namesBytes;
    if (fits) units -= given.length;
    if (fits) room -= bytes;
    return { id: `call_${call}_${index}`, name, arguments: fits ? given : '' };
  });
  const isCut = text.length < content.length || calls.length > bounded.length;
  return { ...rest, content: text, tool_calls: bounded, ...(isCut ? { cut: true } : {}) };
}

/** Names of all calls: each unit takes six bytes at most. */
const namesBytes = conversationLimits.callsPerReply * nameMax * 6;

/** The longest beginning that fits, found in one pass: the event loop waits for it. */
function fitText(text: string): string {
  if (jsonBytes(text) <= conversationLimits.replyBytes) return text;
  let room = conversationLimits.replyBytes - 2;
  let length = 0;
  while (length < text.length && room >= 0) {
    room -= unitBytes(text.charCodeAt(length));
    length += 1;
  }
  return cutText(text, length - 1);
}

/** Bytes of a unit of a well-formed text as JSON, at most; each half of a pair has two of the four. */
function unitBytes(unit: number): number {
  if (unit < 0x20) return 6;
  if (unit < 0x80) return unit === 0x22 || unit === 0x5c ? 2 : 1;
  if (unit < 0x800) return 2;
  return unit >= 0xd800 && unit <= 0xdfff ? 2 : 3;
}

/**
 * At most `length` UTF-16 units of a message. A longer one keeps its beginning and its end, where messages of
 * Kubernetes and of registries name the cause, as in `…: connect: no route to host`.
 */
export function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const begin = Math.ceil((length - gap.length) * beginPart);
  const end = text.slice(text.length - (length - gap.length - begin));
  const isLowSurrogate = /^[\udc00-\udfff]/.test(end);
  return `${cutText(text, begin)}${gap}${isLowSurrogate ? end.slice(1) : end}`;
}

const gap = ' … ';
/** The beginning says what was tried, with names such as that of an image; the cause at the end is short. */
const beginPart = 3 / 4;

/** The first `length` UTF-16 units of a text, or one less where a character would be cut in two. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHighSurrogate ? length - 1 : length);
}

/** End of a text that `cutWithMark` cut. */
export const cutMark = '…';

/** The beginning of a longer text, with a mark. A part of a text keeps all of it in memory, unless it is copied. */
export const cutWithMark = (text: string, length: number): string =>
  text.length <= length ? text : Buffer.from(`${cutText(text, length)}${cutMark}`).toString('utf8');

import { unsafeMarks } from './unsafe-marks.ts';

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** Columns that the text takes in a terminal: two for wide characters, none for combining marks. */
export function textWidth(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** At most `columns` wide; what is cut off is shown by `…`. */
export function fitText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  if (columns < 1) return '';
  let width = 0;
  let kept = '';
  for (const { segment } of segmenter.segment(text)) {
    width += graphemeWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Filled up with blanks to `columns`. */
export function padText(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)));
}

const unsafe = new RegExp(String.raw`[\p{Cc}${unsafeMarks}]`, 'gu');

/**
 * Data made safe for a terminal on one line. Control characters, escape sequences among them, and marks that turn the
 * direction of writing become visible signs. So no output of a step can move the cursor or disguise a line.
 */
export function printable(text: string): string {
  return text.replace(/\r?\n/g, ' ⏎ ').replace(/\t/g, ' ').replace(unsafe, '�');
}

function graphemeWidth(segment: string): number {
  if (zeroWidth.test(segment)) return 0;
  return wide.test(segment) ? 2 : 1;
}

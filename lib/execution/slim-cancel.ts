import type { Cancel } from '../../crds/schema/workflow-execution.ts';
import { cutText } from '../cut-text.ts';

/** Characters of a reason that caches keep. */
const reasonLength = 256;
/** End of a text that was cut. */
export const cutMark = '…';

/** A cancellation with the beginning of its reason: 1,024 characters for each of ten thousand objects are much. */
export function slimCancel({ reason, ...cancel }: Cancel): Cancel {
  return reason === undefined ? cancel : { ...cancel, reason: shortened(reason, reasonLength) };
}

/** The beginning of a longer text, with a mark. A part of a text keeps all of it in memory, unless it is copied. */
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text : Buffer.from(`${cutText(text, length)}${cutMark}`).toString('utf8');

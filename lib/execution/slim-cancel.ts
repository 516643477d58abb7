import type { Cancel } from '../../crds/schema/workflow-execution.ts';
import { cutWithMark } from '../cut-text.ts';

/** Characters of a reason that caches keep. */
const reasonLength = 256;

/** A cancellation with the beginning of its reason: 1,024 characters for each of ten thousand objects are much. */
export function slimCancel({ reason, ...cancel }: Cancel): Cancel {
  return reason === undefined ? cancel : { ...cancel, reason: cutWithMark(reason, reasonLength) };
}

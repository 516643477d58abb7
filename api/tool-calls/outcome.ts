import { limits } from '../../crds/limits.ts';
import type { ToolCallStatus } from '../../crds/schema/tool-call.ts';
import { cutText } from '../../lib/cut-text.ts';
import type { ToolAnswer } from '../../lib/tools/tool.ts';

/** How a call ended. */
export type CallOutcome = Pick<ToolCallStatus, 'phase' | 'reason' | 'message' | 'result'>;

/** `ToolRefused` and `ToolUnavailable`: nothing ran. */
export type FailureReason = 'ToolRefused' | 'ToolUnavailable' | 'ToolFailed' | 'OutcomeUnknown' | 'Timeout';

const messageLength = 2_048;

export const failedCall = (reason: FailureReason, message: string): CallOutcome => ({
  phase: 'failed',
  reason,
  message: cutText(message, messageLength),
});

export const cancelledCall: CallOutcome = {
  phase: 'cancelled',
  reason: 'Cancelled',
  message: 'the call was cancelled',
};

/** Characters of an answer that the message of a failure shows. */
const shownLength = 500;
/** The gateway says so of a call that it gave no answer to. */
const unknown = 'OutcomeUnknown: ';

export function answeredCall({ content, isError }: ToolAnswer): CallOutcome {
  const result = resultOf(content);
  if (!isError) return { phase: 'completed', result };
  if (content.startsWith(unknown)) return failedCall('OutcomeUnknown', content.slice(unknown.length));
  return { ...failedCall('ToolFailed', cutText(content, shownLength)), result };
}

/** As much of an answer as a status holds: etcd takes 1.5 MiB for the object with its arguments. */
export function resultOf(content: string): NonNullable<ToolCallStatus['result']> {
  const most = limits.toolCallResultBytes;
  const whole = content.toWellFormed();
  let kept = cutText(whole, most);
  for (let bytes = jsonBytes(kept); bytes > most; bytes = jsonBytes(kept))
    kept = cutText(kept, Math.floor((kept.length * most) / bytes));
  return kept.length === whole.length ? { content: kept } : { content: kept, truncated: true };
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

import { limits } from '../../crds/limits.ts';
import type { ToolCallStatus } from '../../crds/schema/tool-call.ts';
import { cutText } from '../../lib/cut-text.ts';
import { cutToStored } from '../../lib/kube/stored-bytes.ts';
import type { ToolAnswer } from '../../lib/tools/tool.ts';

/** How a call ended. */
export type CallOutcome = Pick<ToolCallStatus, 'phase' | 'reason' | 'message' | 'result'>;

/** `ToolRefused` and `ToolUnavailable`: nothing ran. */
type FailureReason = 'ToolRefused' | 'ToolUnavailable' | 'ToolFailed' | 'OutcomeUnknown' | 'Timeout';

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
function resultOf(content: string): NonNullable<ToolCallStatus['result']> {
  const whole = content.toWellFormed();
  const kept = cutToStored(whole, limits.toolCallResultBytes);
  if (kept.length === whole.length) return { content: kept };
  // A part of a text holds the memory of the whole.
  return { content: Buffer.from(kept).toString(), truncated: true };
}

/**
 * The status in place of one that the API server has no room for: the same without the answer, and why. Undefined for one
 * without an answer.
 */
export function withoutAnswer(status: ToolCallStatus, problem: string): ToolCallStatus | undefined {
  const { result, reason = 'OutcomeUnknown', message: said, ...rest } = status;
  if (result === undefined) return undefined;
  const why = `the tool was called, and its answer was not kept: ${problem}`;
  const message = said === undefined ? why : `${cutText(said, shownLength)}; ${why}`;
  return { ...rest, ...failedCall('OutcomeUnknown', message), reason };
}

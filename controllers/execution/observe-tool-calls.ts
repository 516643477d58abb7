import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { ToolCallFact } from './engine/facts.ts';

/** The ToolCall of a state of this execution. */
export function observeToolCall({ metadata, spec, status = {} }: ToolCall): ToolCallFact {
  const { reason, message = '' } = status;
  return {
    name: metadata.name,
    madeBy: spec.parent,
    uid: metadata.uid ?? '',
    tool: spec.tool,
    phase: status.phase ?? 'pending',
    cancelled: spec.cancel !== undefined,
    startedAt: instantOf(status.claim?.at),
    endedAt: instantOf(status.finished_at),
    why: reason === undefined ? undefined : { reason, message },
  };
}

/** With its answer; empty where it has none. */
export function wholeToolCall(call: ToolCall): ToolCallFact {
  const { content = '', truncated = false } = call.status?.result ?? {};
  return { ...observeToolCall(call), answer: { content, truncated } };
}

const instantOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));

import type { AgentAsk, AgentExecution } from '../../crds/schema/agent-execution.ts';

type Asking = Pick<AgentExecution, 'metadata' | 'spec'>;

/** The tool call that an execution has asked a person about and that has no answer (ADR 0082), in time or not. */
export function unansweredAsk({ spec: { ask, signals = [] } }: Asking): AgentAsk | undefined {
  return signals.some(({ id }) => id === ask?.id) ? undefined : ask;
}

/**
 * The tool call of an execution that waits for a person. Undefined once it is answered, its time is over, or the execution
 * is over or stopped, although the API may not have taken the ask away yet.
 */
export function openAsk(execution: Asking, now: number): AgentAsk | undefined {
  const { metadata, spec } = execution;
  if (spec.cancel !== undefined || spec.result !== undefined || metadata.deletionTimestamp !== undefined)
    return undefined;
  const ask = unansweredAsk(execution);
  return ask === undefined || now >= Date.parse(ask.until) ? undefined : ask;
}

/** The text that the person reads. */
export const askPrompt = (
  { spec, status }: Pick<AgentExecution, 'spec' | 'status'>,
  { tool, arguments: args }: AgentAsk,
) => `Agent ${status?.agent?.name ?? spec.agent} asks to call ${tool} with ${args}`;

import type { AgentAsk, AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { isCutAsk } from '../../../lib/agent/slim-agent-execution.ts';
import { askPrompt } from '../../../lib/decision/open-ask.ts';
import { AppError } from '../../../lib/errors.ts';
import { wholePrompt } from '../../../lib/execution/full-execution.ts';
import type { OutputReader } from '../../../lib/execution/output-reader.ts';
import type { ApprovalRequest, ListedApprovalRequest } from './contract.ts';
import type { Pending } from './pending.ts';

/** The form of spec 1 §2.3, with the whole prompt. */
export async function presentRequest(outputs: OutputReader, pending: Pending): Promise<ApprovalRequest> {
  return present(pending, await promptOf(outputs, pending));
}

/** The same as a row of a list: of a long prompt the beginning, which caches keep, so that a page stays small. */
export function presentListed(pending: Pending): ListedApprovalRequest {
  const { prompt = '', prompt_ref: whole } = pending.current;
  const cut = whole === undefined ? {} : { prompt_truncated: true, prompt_bytes: whole.bytes };
  return { ...present(pending, prompt), ...cut };
}

function present({ id, execution, current }: Pending, prompt: string): ApprovalRequest {
  return {
    id,
    execution_id: execution.metadata.uid ?? '',
    prompt,
    created_at: current.entered_at,
    timeout_seconds: current.deadline === undefined ? 0 : secondsBetween(current.entered_at, current.deadline),
  };
}

/** The output store holds a long prompt. Without it the beginning, which the status shows, has to do. */
async function promptOf(outputs: OutputReader, { execution, current }: Pending): Promise<string> {
  try {
    return await wholePrompt(outputs, execution, current);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return current.prompt ?? '';
    throw error;
  }
}

const secondsBetween = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / 1_000);

/** The form of spec 1 §2.3 of a tool call that waits. In a cache its arguments may be cut, which a list says. */
export function presentAsk(execution: AgentExecution, ask: AgentAsk): ListedApprovalRequest {
  return {
    id: ask.id,
    execution_id: execution.metadata.uid ?? '',
    prompt: askPrompt(execution, ask),
    created_at: ask.asked_at,
    timeout_seconds: secondsBetween(ask.asked_at, ask.until),
    ...(isCutAsk(ask) ? { prompt_truncated: true } : {}),
  };
}

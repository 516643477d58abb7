import { limits } from '../../../crds/limits.ts';
import type { AgentAsk } from '../../../crds/schema/agent-execution.ts';
import { approvalId } from '../../../lib/decision/approval-id.ts';
import type { ConversationState } from '../../../lib/conversation/state.ts';
import { needsApproval } from '../../../lib/tools/needs-approval.ts';
import type { Tool, ToolArguments } from '../../../lib/tools/tool.ts';
import { Parked } from './approvals.ts';
import { type ConversationDeps, type EffectOf, record } from '../conversation/conversation-deps.ts';
import { shownArguments } from './shown-arguments.ts';

interface Asked {
  readonly call: EffectOf<'call_tool'>['call'];
  readonly args: ToolArguments;
}

type Approval = NonNullable<ReturnType<ConversationState['approvals']['get']>>;

const secondsDefault = 600;

/**
 * Why a person keeps the call from running; undefined where it may run (ADR 0082). A person is asked once about a call,
 * whichever replica asks. @throws Parked while the call waits.
 */
export async function refusalByPerson(
  deps: ConversationDeps,
  tool: Tool,
  asked: Asked,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { underWay, approvals } = deps.log.state;
  const { id } = asked.call;
  if (underWay?.call_id === id || !needsApproval(deps.caller, tool.name)) return undefined;
  const known = approvals.get(id);
  if (known?.given !== undefined) return refusalOf(known.given);
  const shown = shownArguments(asked.args);
  if (shown === undefined) return tooLong;
  if (known === undefined && approvals.size >= limits.agentAsks) return tooMany;
  const { asked: question } = known ?? (await ask(deps, tool, id));
  return decide(deps, question, shown, signal);
}

const tooMany = `ApprovalsExceeded: ${limits.agentAsks} calls of an execution may wait for a person; answer without this tool`;
const tooLong = `ArgumentsTooLong: a person must see the arguments of this tool, so they may have ${limits.askArgumentsLength / 1024} KiB; send less`;

async function ask(deps: ConversationDeps, tool: Tool, callId: string): Promise<Approval> {
  const seconds = deps.caller.agent.spec.approval?.timeout_seconds ?? secondsDefault;
  const until = Math.min(
    deps.clock.now() + seconds * 1_000,
    Date.parse(deps.execution.status?.deadline ?? '') || Infinity,
  );
  await record(deps, {
    kind: 'approval_asked',
    call_id: callId,
    request_id: approvalId(deps.caller.executionId ?? '', { state: callId, visit: 1 }),
    tool: tool.name,
    until: new Date(until).toISOString(),
  });
  const approval = deps.log.state.approvals.get(callId);
  if (approval === undefined) throw new Error('the record of the ask was not taken in');
  return approval;
}

async function decide(
  deps: ConversationDeps,
  asked: Approval['asked'],
  shown: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { call_id, request_id, tool, until, at } = asked;
  const question: AgentAsk = { id: request_id, tool, arguments: shown, asked_at: at, until };
  const outcome = await deps.approvals.settle(deps.execution, question, signal);
  if (outcome === undefined) throw new Parked();
  await record(deps, { kind: 'approval_given', call_id, request_id, ...outcome });
  return refusalOf(outcome);
}

function refusalOf({
  approved,
  by,
  feedback,
}: {
  approved: boolean;
  by?: string;
  feedback?: string;
}): string | undefined {
  if (approved) return undefined;
  if (by === undefined) return 'ApprovalTimeout: no person answered in time; the call did not run';
  const why = feedback === undefined ? '' : `: ${feedback}`;
  return `ToolCallRejected: a person rejected the call${why}`;
}

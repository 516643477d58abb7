import { matchesApproved } from './name-pattern.ts';
import type { ToolCaller, ToolRefusal } from './tool.ts';

/** Whether a person must approve a call of this tool (ADR 0082). */
export const needsApproval = ({ agent }: Pick<ToolCaller, 'agent'>, name: string): boolean =>
  matchesApproved(agent?.spec.approval?.tools ?? [], name);

/** Why a call that no conversation makes is refused: it cannot wait for a person, and must not get around one. */
export function approvalProblem(caller: Pick<ToolCaller, 'agent'>, name: string): ToolRefusal | undefined {
  if (!needsApproval(caller, name)) return undefined;
  const message = `a person must approve a call of ${name} (spec.approval of the agent); let the agent call it`;
  return { kind: 'policy', code: 'ApprovalRequired', message };
}

import type { ExecutionReason } from '../../crds/conditions.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';

const ends: ReadonlySet<unknown> = new Set<Phase>(['completed', 'failed', 'cancelled']);

/** Whether a phase of an execution, an agent execution or a tool call is an end: it never changes again. */
export const isEnd = (phase: unknown): boolean => ends.has(phase);

/** The same of an object with a phase, such as a status. */
export const isTerminal = ({ phase }: { readonly phase: Phase }): boolean => isEnd(phase);

/** Whether an execution came to its end, and the state that ended it did not fail (requirements AMB-169). */
export const succeeded = ({ phase, reason }: { readonly phase: Phase; readonly reason?: string }): boolean =>
  phase === 'completed' && reason !== ('LastStateFailed' satisfies ExecutionReason);

/** The execution, of a workflow or of an agent, has reached its end: it will never change its phase again. */
export const finished = ({ status }: { readonly status?: { readonly phase?: Phase } }): boolean => isEnd(status?.phase);

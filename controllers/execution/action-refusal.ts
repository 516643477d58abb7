import { isInvalid, isTooLarge, KubeError } from '../../lib/kube/index.ts';
import type { Action } from './engine/decision.ts';
import type { Blockage } from './engine/facts.ts';

/**
 * A refusal of the API server that a person may undo: grant a right, make room in a quota, or mend an object. A child
 * that is not valid is never made: no other action beside its create is refused so.
 */
export function actionRefusal(error: unknown, actions: readonly Action[]): Blockage | undefined {
  if (!(error instanceof KubeError)) return undefined;
  const { message, status } = error;
  if (status === 403) return { reason: message.includes('exceeded quota') ? 'QuotaExceeded' : 'Forbidden', message };
  if (!isInvalid(error) && !isTooLarge(error)) return undefined;
  return { reason: 'Refused', message, child: nameOfNew(actions) };
}

/** The object that is to be made: a child, an agent, a tool call, or what the end of this one starts. */
function nameOfNew(actions: readonly Action[]): string | undefined {
  for (const action of actions) {
    if (action.kind === 'create_linked') return action.plan.name;
    if (makesChild(action)) return action.name;
  }
  return undefined;
}

const makesChild = (action: Action) =>
  action.kind === 'create_child' || action.kind === 'create_agent' || action.kind === 'create_tool_call';

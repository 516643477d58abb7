import { isInvalid, isTooLarge, KubeError } from '../../lib/kube/index.ts';
import { waitOfRefusal } from '../step-pods/wait-of-refusal.ts';
import type { FailedAction } from './apply.ts';
import type { Blockage } from './engine/facts.ts';

/**
 * A refusal of the API server that a person may undo: grant a right, make room in a quota, or mend an object. A child
 * that is not valid is never made, so the refusal of its create names it.
 */
export function actionRefusal({ action, error }: FailedAction): Blockage | undefined {
  if (!(error instanceof KubeError)) return undefined;
  const { message } = error;
  const wait = waitOfRefusal(error);
  if (wait !== undefined) return { reason: wait.reason, message };
  if (!isInvalid(error) && !isTooLarge(error)) return undefined;
  return { reason: 'Refused', message, child: nameOfNew(action) };
}

/** The object that is to be made: a child, an agent, a tool call, or what the end of this one starts. */
function nameOfNew(action: FailedAction['action']): string | undefined {
  switch (action.kind) {
    case 'create_linked':
      return action.plan.name;
    case 'create_child':
    case 'create_agent':
    case 'create_tool_call':
      return action.name;
    default:
      return undefined;
  }
}

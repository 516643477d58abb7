import { type AgentExecutionReason, agentExecutionReasons, executionReasons } from '../../../crds/conditions.ts';
import { type AppError, type ErrorCode, hasReason } from '../../../lib/errors.ts';
import { KubeError, mayPass } from '../../../lib/kube/index.ts';
import { ModelError } from '../../../lib/models/models.ts';
import { TemplateBudgetExceeded, TemplateError } from '../../../lib/template/template-error.ts';
import { JudgeFailed } from '../verdicts/judge.ts';

/** Why an execution fails: a reason of the list in `docs/reference/reasons.md`, and what to look at. */
interface NamedEnd {
  readonly reason: AgentExecutionReason;
  readonly message: string;
}

/** Trouble that is over by itself, of which no execution fails: another attempt follows after a pause. */
const passing: ReadonlySet<ErrorCode> = new Set(['timeout', 'unavailable', 'wait']);

/** Whether an error of ours is of the cluster, of the bus or of this replica, and says nothing of the execution. */
export function isPassing(error: AppError): boolean {
  if (error instanceof KubeError) return mayPass(error);
  if (error instanceof JudgeFailed) return false;
  // One of the gateway has had its time before it comes here.
  return hasReason(error, 'ReplicaShort') || (passing.has(error.code) && nameOf(error) === undefined);
}

/** The end of an execution by an error of ours. Its own words are kept only where its reason is in the list. */
export function namedEnd(error: AppError | ModelError): NamedEnd {
  const reason = nameOf(error);
  return reason === undefined ? { reason: 'InternalError', message: bugMessage } : { reason, message: error.message };
}

/** Whether the log has to say more than the status of the execution does. */
export const isUnnamed = (error: AppError | ModelError): boolean => nameOf(error) === undefined;

const bugMessage =
  'an error of Windlass ended the execution; look in the logs of the API for "conversation ended by an error" with its uid, and report the line';

function nameOf(error: AppError | ModelError): AgentExecutionReason | undefined {
  if (error instanceof ModelError) return error.failure;
  if (error instanceof JudgeFailed) return 'ValidationFailed';
  if (error instanceof TemplateError || error instanceof TemplateBudgetExceeded) return 'TemplateFailed';
  return isListed(error.reason) ? error.reason : undefined;
}

const isListed = (reason: string): reason is AgentExecutionReason =>
  Object.hasOwn(executionReasons, reason) || Object.hasOwn(agentExecutionReasons, reason);

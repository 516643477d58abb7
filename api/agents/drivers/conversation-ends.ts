import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { failure } from '../../../lib/conversation/next.ts';
import { startDeadline } from '../../../lib/deadline.ts';
import { AppError } from '../../../lib/errors.ts';
import type { ConversationLog } from '../conversation/log.ts';
import { isUnnamed, namedEnd } from '../conversation/named-end.ts';
import type { DriversDeps } from './drivers-deps.ts';
import type { OpenLog } from './open-log.ts';
import { writeOutcome } from './outcome.ts';

/** Time for the last record and the outcome of an execution that is out of time. */
const lastWordMs = 30_000;
/** Attempts behind each other that meet a bug, until the execution fails of it: as for workflows (ADR 0041). */
export const bugTriesMax = 5;

const metABug = `each of ${bugTriesMax} attempts met an error of Windlass; look in the logs of the API for "conversation interrupted" with the uid of the execution, and report the line`;

/** Ends of conversations that the model does not bring: each writes the last record and the outcome. */
export interface ConversationEnds {
  /** The controller says the same where no replica does: the deadline is in the status. */
  late(execution: AgentExecution, giveUp: AbortSignal): Promise<void>;
  byBug(execution: AgentExecution, giveUp: AbortSignal): Promise<void>;
  /** No other replica would do better. */
  failed(execution: AgentExecution, log: ConversationLog, error: AppError): Promise<void>;
}

export function createConversationEnds(deps: DriversDeps, openLog: OpenLog): ConversationEnds {
  async function failed(execution: AgentExecution, log: ConversationLog, error: AppError): Promise<void> {
    if (isUnnamed(error))
      deps.logger.error({ err: error, uid: execution.metadata.uid }, 'conversation ended by an error');
    const { reason, message } = namedEnd(error);
    const at = new Date(deps.clock.now()).toISOString();
    if (log.state.result === undefined) {
      await log.append({ kind: 'ended', result: { ...failure(log.state, reason, message), at } });
    }
    if (log.state.result !== undefined) await writeOutcome(deps, execution, log.state.result);
  }

  async function endBy(execution: AgentExecution, giveUp: AbortSignal, why: AppError): Promise<void> {
    using deadline = startDeadline(deps.clock, lastWordMs);
    const log = await openLog(execution, { signal: deadline.signal, giveUp });
    await log.load();
    await failed(execution, log, why);
  }

  return {
    failed,
    byBug: (execution, giveUp) =>
      endBy(execution, giveUp, new AppError('internal', metABug, { reason: 'InternalError' })),
    late(execution, giveUp) {
      const { wait } = deps.executions.cache.getByUid(execution.metadata.uid ?? '')?.spec ?? {};
      const waited = wait === undefined ? '' : `; it waited: ${wait.reason}: ${wait.message}`;
      const message = `the execution took longer than its timeout${waited}`;
      return endBy(execution, giveUp, new AppError('timeout', message, { reason: 'Timeout' }));
    },
  };
}

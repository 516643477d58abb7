import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { modelAliasOf } from '../../../lib/agent/model-alias.ts';
import { conversationLogs } from '../../../lib/conversation/record.ts';
import { AppError } from '../../../lib/errors.ts';
import { ConversationLog, Stopped } from '../conversation/log.ts';
import type { DriversDeps } from './drivers-deps.ts';
import { lastingOrThrow } from './lasting.ts';

/**
 * Opens the log of a conversation for this installation, and reads nothing of it yet.
 * @throws Stopped where another installation drives the execution, and what the claim throws.
 */
export type OpenLog = (
  execution: AgentExecution,
  signals: { readonly signal: AbortSignal; readonly giveUp: AbortSignal },
) => Promise<ConversationLog>;

export function createOpenLog(deps: DriversDeps): OpenLog {
  const { bus, claims, clock, definitionOf, executions, newId } = deps;
  const stream = bus.logs(conversationLogs);
  return async (execution, signals) => {
    // One whose definition is gone fails wherever it is driven.
    const definition = await definitionOf(execution).catch(lastingOrThrow);
    const model = definition instanceof AppError ? '' : modelAliasOf(definition.spec);
    const { namespace = '', name, uid = '' } = execution.metadata;
    // The one that was given is from before the claim: with it each reopening would read the log's bounds and write in vain.
    const place = await claims.claim(executions.cache.getByUid(uid) ?? execution, model);
    if (place === undefined) throw new Stopped();
    const logger = deps.logger.child({ namespace, execution: name, uid });
    const whose = { place, executionId: uid, startedAt: execution.status?.started_at };
    return new ConversationLog({ ...whose, stream, clock, newId, logger, ...signals });
  };
}

import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { labels } from '../../../crds/labels.ts';
import { isUid } from '../../../crds/uid.ts';
import { unansweredAsk } from '../../../lib/decision/open-ask.ts';
import { defined } from '../../../lib/defined.ts';
import { deletingOf } from '../being-deleted.ts';
import type { AgentExecutionSummary, AgentExecutionView } from './schema.ts';

/** An execution as a list shows it. */
export function presentSummary(execution: AgentExecution): AgentExecutionSummary {
  const { metadata, spec, status = {} } = execution;
  const numbers = { ...status, ...spec.result };
  return {
    execution_id: metadata.uid ?? '',
    name: metadata.name,
    ...agentOf(execution),
    status: status.phase ?? 'pending',
    created_at: metadata.creationTimestamp ?? '',
    archived: false,
    ...deletingOf(execution),
    ...defined({
      reason: status.reason,
      message: status.message,
      started_at: status.started_at,
      finished_at: status.finished_at,
      iterations: numbers.iterations,
      tool_calls: numbers.tool_calls,
      input_tokens: numbers.input_tokens,
      output_tokens: numbers.output_tokens,
      cost_usd: numbers.cost_usd,
    }),
  };
}

/** Which agent it runs: as it was asked for, until that is fixed. */
function agentOf({ metadata, spec, status }: AgentExecution) {
  const { agent } = status ?? {};
  if (agent !== undefined) return { agent: agent.name, agent_id: agent.uid, version: agent.version };
  return {
    agent: metadata.labels?.[labels.agent] ?? spec.agent,
    agent_id: isUid(spec.agent) ? spec.agent : null,
    ...defined({ version: spec.version }),
  };
}

/** An execution with its texts. */
export function presentExecution(execution: AgentExecution): AgentExecutionView {
  const { input, intent, result, parent } = execution.spec;
  return {
    ...presentSummary(execution),
    ...defined({
      input,
      intent,
      output: result?.output,
      score: result?.score,
      confidence: result?.confidence,
      provider: result?.provider,
      model: result?.model,
      workflow_execution_id: parent?.uid,
      state: parent?.state,
      approval: unansweredAsk(execution),
    }),
  };
}

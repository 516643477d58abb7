import type { AgentExecution, AgentExecutionStatus } from '../../../crds/schema/agent-execution.ts';
import type { Fact } from '../../runtime/facts.ts';

const copied = [
  'phase',
  'reason',
  'iterations',
  'tool_calls',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'score',
  'started_at',
  'finished_at',
] as const;

/** That an execution of an agent has ended, for the event bus. No text of it: who may read events may not read those. */
export function endFact({ metadata, spec, status }: AgentExecution): Fact | undefined {
  const { uid = '', name, namespace = '' } = metadata;
  const time = status?.finished_at;
  if (status === undefined || time === undefined) return undefined;
  const data = {
    execution_id: uid,
    execution: name,
    namespace,
    ...agentOf(spec, status),
    parent_execution_id: spec.parent?.uid,
    ...Object.fromEntries(copied.map((field) => [field, status[field]])),
  };
  return { word: 'ended', topic: 'execution', type: 'AgentExecutionEnded', subject: uid, namespace, time, data };
}

const agentOf = ({ agent: asked }: AgentExecution['spec'], { agent }: AgentExecutionStatus) => ({
  agent_id: agent?.uid,
  agent: agent?.name ?? asked,
  version: agent?.version,
});

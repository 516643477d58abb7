import { labels } from '../../crds/labels.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { cutText } from '../cut-text.ts';
import { defined } from '../defined.ts';
import { marksOfOurs, notedWorkflow } from '../execution/noted-workflow.ts';
import { archiveLimits } from './limits.ts';

/** The row of an archived execution in a list. */
export function rowOf(execution: WorkflowExecution): WorkflowExecution {
  const { apiVersion, kind, metadata, spec, status } = execution;
  const { name, uid, creationTimestamp } = metadata;
  const workflowUid = notedWorkflow(execution);
  const marks = workflowUid === undefined ? {} : marksOfOurs(execution);
  return {
    apiVersion,
    kind,
    metadata: defined({
      name,
      uid,
      creationTimestamp,
      ...marks,
      labels: workflowUid === undefined ? undefined : { ...marks.labels, [labels.workflowUid]: workflowUid },
    }),
    spec: defined({ workflow: spec.workflow, version: spec.version }),
    ...(status === undefined ? {} : { status: statusOf(status) }),
  };
}

function statusOf(status: NonNullable<WorkflowExecution['status']>): NonNullable<WorkflowExecution['status']> {
  const { phase, reason, message, workflow, state, transitions, started_at, finished_at } = status;
  return defined({ phase, reason, message: shortOf(message), workflow, state, transitions, started_at, finished_at });
}

const shortOf = (message: string | undefined): string | undefined =>
  message === undefined ? undefined : cutText(message, archiveLimits.rowMessageLength);

/** The row of an archived execution of an agent. */
export function agentRowOf({ apiVersion, kind, metadata, spec, status }: AgentExecution): AgentExecution {
  const { name, uid, creationTimestamp } = metadata;
  const { agent, version, parent } = spec;
  const agentName = metadata.labels?.[labels.agent];
  return {
    apiVersion,
    kind,
    metadata: defined({
      name,
      uid,
      creationTimestamp,
      labels: agentName === undefined ? undefined : { [labels.agent]: agentName },
    }),
    spec: defined({ agent, version, parent }),
    ...(status === undefined ? {} : { status: agentStatusOf(status) }),
  };
}

function agentStatusOf(status: NonNullable<AgentExecution['status']>): NonNullable<AgentExecution['status']> {
  const { conditions: _conditions, pod: _pod, observedGeneration: _generation, message, ...shown } = status;
  return defined({ ...shown, message: shortOf(message) });
}

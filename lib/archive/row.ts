import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { cutText } from '../cut-text.ts';
import { defined } from '../defined.ts';
import type { ArchivedRow } from './archive-store.ts';
import { archiveLimits } from './limits.ts';

/** The row of an archived execution in a list. */
export function rowOf({ apiVersion, kind, metadata, spec, status }: WorkflowExecution): ArchivedRow {
  const { name, uid, creationTimestamp } = metadata;
  const workflowUid = metadata.labels?.[labels.workflowUid];
  return {
    apiVersion,
    kind,
    metadata: defined({
      name,
      uid,
      creationTimestamp,
      labels: workflowUid === undefined ? undefined : { [labels.workflowUid]: workflowUid },
    }),
    spec: defined({ workflow: spec.workflow, version: spec.version }),
    ...(status === undefined ? {} : { status: statusOf(status) }),
  };
}

function statusOf(status: NonNullable<WorkflowExecution['status']>): NonNullable<WorkflowExecution['status']> {
  const { phase, reason, message, workflow, state, transitions, started_at, finished_at } = status;
  const short = message === undefined ? undefined : cutText(message, archiveLimits.rowMessageLength);
  return defined({ phase, reason, message: short, workflow, state, transitions, started_at, finished_at });
}

import { apiVersion, labels } from '../../crds/labels.ts';
import { readyOf } from '../../crds/ready.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution, WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import { defined } from '../defined.ts';
import type { ObjectMeta } from '../kube/index.ts';
import { labelValue } from '../pod-slot.ts';

/** The version of a workflow against which the wish for an execution was checked. */
interface ValidatedVersion {
  /** How the execution names the workflow: its name, or its uid where the controllers would not find it by name. */
  readonly reference: string;
  /** Name and uid of its object, by which executions are found; a child is found by its parent. */
  readonly object?: string | undefined;
  readonly uid?: string | undefined;
  /** Undefined where `validatedVersion` says that the number is ambiguous. */
  readonly version: string | undefined;
}

export interface ExecutionPlan {
  /** Absent: the API server adds a suffix to the name of the workflow. */
  readonly name?: string | undefined;
  readonly namespace: string | undefined;
  readonly workflow: ValidatedVersion;
  readonly spec: Omit<WorkflowExecutionSpec, 'workflow' | 'version'>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly owner?: NonNullable<ObjectMeta['ownerReferences']>[number] | undefined;
}

/** The object of a new execution. Everything that starts executions makes them here, and each pins what was validated. */
export function buildExecution(plan: ExecutionPlan): WorkflowExecution {
  const { name, namespace, workflow, spec, owner } = plan;
  const { reference, object, uid, version } = workflow;
  const base = labelValue(object ?? reference);
  const own = defined({ [labels.workflow]: object && base, [labels.workflowUid]: uid });
  return {
    apiVersion,
    kind: 'WorkflowExecution',
    metadata: defined({
      ...(name === undefined ? { name: '', generateName: `${base}-` } : { name }),
      namespace,
      labels: { ...own, ...plan.labels },
      annotations: plan.annotations && { ...plan.annotations },
      ownerReferences: owner && [owner],
    }),
    spec: defined({ ...spec, workflow: reference, version }),
  };
}

/**
 * The version that a start without a wish for one is checked against: the newest. Undefined while other content is stored
 * under its number, which force may be about to replace: the controllers then decide which one runs.
 */
export function validatedVersion(workflow: Workflow): string | undefined {
  const { spec, status } = workflow;
  const isListed = status?.versions?.some(({ version }) => version === spec.version) ?? false;
  return isListed && readyOf(workflow)?.status !== 'True' ? undefined : spec.version;
}

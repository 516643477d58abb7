import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { finished } from '../../lib/execution/finished.ts';
import { slimExecution } from '../../lib/execution/slim-execution.ts';
import { createInformer, createWholeObjects, type Informer } from '../../lib/informer/index.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { withSpec } from '../runtime/with-spec.ts';
import { rootOf } from './engine/names.ts';

/** Bytes of heap for whole versions: those used last spare a request. */
const keptBytes = bytesOf('whole executions');

type ExecutionIndex = 'parentUid' | 'originUid' | 'root' | 'workflow' | 'revision';

/** `root`: `namespace/uid` of the execution that began it all, of those that another one started. */
export const executionInformer: InformerSpec<Informer<WorkflowExecution, ExecutionIndex>> = {
  name: 'executions',
  kind: 'WorkflowExecution',
  open: (deps) =>
    createInformer(deps, {
      resource: workflowExecutions,
      parse: withSpec,
      sparesOwn: true,
      wholes: createWholeObjects({
        kube: deps.kube,
        clock: deps.clock,
        resource: workflowExecutions,
        slim: slimExecution,
        // A finished execution is read by its parent alone.
        isSpared: (execution) => !finished(execution) || execution.spec.parent !== undefined,
        keptBytes,
      }),
      indexes: {
        parentUid: ({ spec }) => idsOf(spec.parent?.uid),
        originUid: ({ spec }) => idsOf(spec.origin?.uid),
        root: (execution) => descendantOf(execution),
        workflow: ({ spec }) => [spec.workflow],
        revision: (execution) => idsOf(revisionKey(execution)),
      },
    }),
};

const idsOf = (id: string | undefined): string[] => (id === undefined ? [] : [id]);

const descendantOf = (execution: WorkflowExecution): string[] =>
  rootOf(execution) === execution.metadata.uid ? [] : [`${execution.metadata.namespace}/${rootOf(execution)}`];

/** `namespace/name` of the revision that an execution runs. */
export function revisionKey({ status }: WorkflowExecution): string | undefined {
  return status?.workflow === undefined ? undefined : `${status.workflow.namespace}/${status.workflow.revision}`;
}

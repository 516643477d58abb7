import { apiVersion, labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { labelValue, type PodSlot, slotMetadata } from '../../lib/pod-slot.ts';
import type { StepOwner, StepPodName } from '../step-pods/step.ts';
import { podName } from './engine/names.ts';

/** An execution as the owner of its steps. */
export const stepOwnerOf = ({ metadata: { name, namespace = '', uid = '' } }: WorkflowExecution): StepOwner => ({
  apiVersion,
  kind: 'WorkflowExecution',
  name,
  namespace,
  uid,
  labels: { [labels.execution]: labelValue(name), [labels.executionUid]: uid },
});

/** The pod of one slot of an execution. */
export const stepPodOf = (execution: WorkflowExecution, slot: PodSlot): StepPodName => ({
  name: podName(execution, slot),
  ...slotMetadata(slot),
});

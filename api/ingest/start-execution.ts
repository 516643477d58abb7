import { labels } from '../../crds/labels.ts';
import { readyOf } from '../../crds/ready.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { AppError } from '../../lib/errors.ts';
import { buildExecution, validatedVersion } from '../../lib/execution/build-execution.ts';
import { inputProblems } from '../../lib/json-schema/input-problems.ts';
import { workflowExecutions, workflows } from '../../lib/kinds.ts';
import { findObject, isAlreadyExists, type KubeClient } from '../../lib/kube/index.ts';
import type { Stimulus } from '../../lib/stimulus/stimulus.ts';
import { creationRefusal } from './create-refusal.ts';
import {
  executionFields,
  executionMetadata,
  executionName,
  type StimulusFields,
} from '../../lib/stimulus/execution-fields.ts';
import { IngestError } from './ingest-error.ts';
import { createTimeoutMs } from './reservation.ts';

/** The execution that a stimulus is to start. */
export interface StimulusStart {
  readonly stimulus: Stimulus;
  readonly namespace: string;
  readonly workflow: Workflow;
  /** How the route names it. */
  readonly workflowName: string;
  readonly fields: StimulusFields;
  /** Key of the reservation, where the stimulus has one. */
  readonly reservation?: string;
}

/**
 * Throws IngestError `workflow_error` for what can never run: a refused definition, an input that its schema refuses.
 * Before anything is refused, the server is asked whether the workflow is still the one that we know.
 */
export async function assertStarts(kube: Pick<KubeClient, 'get'>, plan: StimulusStart): Promise<void> {
  try {
    assertRuns(plan);
  } catch (error) {
    const { namespace, name, resourceVersion } = plan.workflow.metadata;
    const workflow = await kube.get(workflows, { namespace, name }).catch(() => undefined);
    if (workflow === undefined || workflow.metadata.resourceVersion === resourceVersion) throw error;
    assertRuns({ ...plan, workflow });
  }
}

function assertRuns({ workflow, workflowName, fields }: StimulusStart): void {
  const { spec } = workflow;
  const ready = readyOf(workflow);
  // One that has not been judged yet is started all the same; the execution waits for the verdict.
  if (ready?.status === 'False') {
    throw new IngestError('workflow_error', `workflow ${workflowName} cannot run: ${ready.reason}: ${ready.message}`);
  }
  const details = inputProblems(spec.input_schema, fields.input);
  if (details.length === 0) return;
  throw new IngestError('workflow_error', `the content does not satisfy the input_schema of ${workflowName}`, {
    details,
  });
}

type ExecutionsClient = Pick<KubeClient, 'create' | 'get'>;

/**
 * Creates the execution under the name of its stimulus. Throws IngestError or AppError `limit_exceeded` where it
 * certainly was not created. Throws AppError `unavailable` with the reason `OutcomeUnknown` where that is not certain.
 */
export async function createExecution(kube: ExecutionsClient, plan: StimulusStart): Promise<WorkflowExecution> {
  try {
    return await kube.create(workflowExecutions, objectOf(plan), { timeoutMs: createTimeoutMs });
  } catch (error) {
    const refusal = isAlreadyExists(error) ? undefined : creationRefusal(error);
    if (refusal !== undefined) throw refusal;
    const execution = await findExecution(kube, plan.namespace, plan.stimulus.id);
    if (execution === undefined) throw unknownOutcome(error);
    return execution;
  }
}

/** The execution that a stimulus started, as the server has it. */
export async function findExecution(
  kube: Pick<KubeClient, 'get'>,
  namespace: string,
  stimulusId: string,
): Promise<WorkflowExecution | undefined> {
  try {
    const found = await findObject(kube, workflowExecutions, { namespace, name: executionName(stimulusId) });
    // Only the API writes the label; without it the object has another owner.
    return found?.metadata.labels?.[labels.stimulus] === stimulusId ? found : undefined;
  } catch (error) {
    throw unknownOutcome(error);
  }
}

export const outcomeUnknown = 'OutcomeUnknown';

const unknownOutcome = (cause: unknown): AppError =>
  new AppError('unavailable', 'whether the execution was created is not known yet', { reason: outcomeUnknown, cause });

/** It runs the version against which its input was checked, whatever is registered meanwhile. */
function objectOf({ stimulus, namespace, workflow, workflowName, reservation, fields }: StimulusStart) {
  const { name: object, uid } = workflow.metadata;
  return buildExecution({
    name: executionName(stimulus.id),
    namespace,
    workflow: { reference: workflowName, object, uid, version: validatedVersion(workflow) },
    spec: fields,
    ...executionMetadata(stimulus, reservation),
  });
}

/** The parts of a plan besides its fields, which are made of the stimulus. */
export const planOf = (plan: Omit<StimulusStart, 'fields'>): StimulusStart => ({
  ...plan,
  fields: executionFields(plan.stimulus),
});

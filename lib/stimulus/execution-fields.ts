import { annotations, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { Json } from '../../crds/schema/parts.ts';
import type { WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import type { Stimulus } from '../../lib/stimulus/stimulus.ts';

/**
 * Name of the execution that a stimulus starts. It follows from the stimulus alone, so that the successor of a
 * dead replica makes the same object, or finds it made.
 */
export const executionName = (stimulusId: string): string => `stimulus-${stimulusId}`;

/** Fields of the execution that a stimulus starts (requirements AMB-145). */
export type StimulusFields = Required<Pick<WorkflowExecutionSpec, 'input' | 'blackboard'>> &
  Pick<WorkflowExecutionSpec, 'intent'>;

/** A JSON object is the input as it is; anything else is `{"content": …}`, and a text is the intent as well. */
export function executionFields(stimulus: Stimulus): StimulusFields {
  const { content } = stimulus;
  const intent = intentOf(content);
  return {
    input: isObject(content) ? content : { content },
    ...(intent === undefined ? {} : { intent }),
    blackboard: { stimulus: seedOf(stimulus) },
  };
}

type ExecutionMetadata = Readonly<Record<'labels' | 'annotations', Record<string, string>>>;

/** Labels and annotations by which the execution of a stimulus is found. */
export function executionMetadata({ id, source }: Stimulus, reservation?: string): ExecutionMetadata {
  return {
    labels: { [labels.stimulus]: id, [labels.stimulusSource]: labelOf(source) },
    annotations: reservation === undefined ? {} : { [annotations.reservation]: reservation },
  };
}

/** The route of a finished execution, `workflow:NAME`, is no legal label: its kind represents all of them. */
const labelOf = ({ kind, name }: Stimulus['source']): string => (kind === 'WorkflowEngineSignal' ? kind : name);

/** A text too long to be an intent is not cut: half a purpose misleads. It is in the input all the same. */
function intentOf(content: Json): string | undefined {
  if (typeof content !== 'string' || content.trim() === '') return undefined;
  return content.length <= limits.templateLength ? content : undefined;
}

const seedOf = ({ id, source, receivedAt, headers }: Stimulus): Json => ({
  id,
  source: source.name,
  received_at: receivedAt,
  headers: { ...headers },
});

function isObject(content: Json): content is { [key: string]: Json } {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}

import type { ExecutionReason, StimulusReason } from '../../crds/conditions.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { EndStimulus } from '../../crds/schema/workflow-execution-status.ts';
import type { BusEvent } from '../../lib/bus/index.ts';
import { stimulusClassified, stimulusReceived } from '../../lib/stimulus/stimulus-events.ts';
import type { Fact } from '../runtime/facts.ts';
import type { LinkedFact } from './engine/facts.ts';

/**
 * The events that each stimulus has, for the one that the end of an execution became (requirements AMB-189). The first
 * says that it came, once it is known to start something or to fail. The second says which workflow it is for.
 */
export function endStimulusFacts({ metadata, status }: WorkflowExecution, linked: LinkedFact | undefined): Fact[] {
  const stimulus = status?.stimulus;
  if (stimulus === undefined || (linked === undefined && !wasSent(stimulus))) return [];
  const events = eventsOf(stimulus, status?.finished_at ?? '', linked);
  return events.map((event) => ({ ...event, word: event.type, namespace: metadata.namespace ?? '' }));
}

function eventsOf(
  { id, source, workflow }: EndStimulus,
  receivedAt: string,
  { createdAt: time = receivedAt, workflowUid = workflow }: Partial<LinkedFact> = {},
): BusEvent[] {
  const occasion = { stimulusId: id, tenant: '', time };
  const received = { id, source: { kind: 'WorkflowEngineSignal', name: source }, receivedAt } as const;
  return [stimulusReceived(occasion, received), stimulusClassified(occasion, workflowUid, choice)];
}

const choice = { confidence: 1, mode: 'Deterministic' } as const;

/** One whose chain is too long or too broad was never sent. */
const unsent: readonly string[] = ['TooManyLinks', 'DescendantsExceeded'] satisfies (
  | StimulusReason
  | ExecutionReason
)[];
const wasSent = ({ reason }: EndStimulus): boolean => reason !== undefined && !unsent.includes(reason);

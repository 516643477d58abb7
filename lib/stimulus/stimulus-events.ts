import type { BusEvent } from '../bus/event-bus.ts';
import type { RouteChoice, RejectionReason, Stimulus } from './stimulus.ts';

/** Which stimulus, of which tenant, an event is about, and when it happened, in RFC 3339. */
export interface Occasion {
  readonly stimulusId: string;
  readonly tenant: string;
  readonly time: string;
}

/** The stimulus passed authentication and was not seen before (spec 1 §6). */
export function stimulusReceived(
  occasion: Occasion,
  { id, source, receivedAt }: Pick<Stimulus, 'id' | 'source' | 'receivedAt'>,
): BusEvent {
  return event(occasion, 'StimulusReceived', { stimulus_id: id, source: source.name, received_at: receivedAt });
}

/** A workflow was chosen; `workflowId` is its uid, or what it is called where it is not there. A router agent's names the source. */
export function stimulusClassified(
  occasion: Occasion,
  workflowId: string,
  { confidence, mode, source }: RouteChoice & { readonly source?: string },
): BusEvent {
  const named = source === undefined ? {} : { source };
  const data = { stimulus_id: occasion.stimulusId, workflow_id: workflowId, confidence, mode, ...named };
  return event(occasion, 'StimulusClassified', data);
}

interface FoundPattern {
  readonly source: string;
  readonly workflowId: string;
  /** Equal choices in a row. */
  readonly count: number;
  /** A route was made of it. */
  readonly isPromoted: boolean;
}

/** Router agents chose one workflow for a source again and again; the stimulus is the last one (spec 1 §6). */
export function patternDiscovered(
  occasion: Occasion,
  { source, workflowId, count, isPromoted }: FoundPattern,
): BusEvent {
  return event(occasion, 'PatternDiscovered', { source, workflow_id: workflowId, count, promoted: isPromoted });
}

/** Authentication or routing failed, or the stimulus was there before. `leftOut` such events before were not raised. */
export function stimulusRejected(occasion: Occasion, reason: RejectionReason, leftOut = 0): BusEvent {
  const more = leftOut === 0 ? {} : { left_out: leftOut };
  return event(occasion, 'StimulusRejected', { stimulus_id: occasion.stimulusId, reason, ...more });
}

/** The router agent failed or took too long. */
export function classificationFailed(occasion: Occasion, error: string): BusEvent {
  return event(occasion, 'ClassificationFailed', { stimulus_id: occasion.stimulusId, error });
}

/** The same event of the same stimulus has the same id, so that one published twice is kept once. */
function event({ stimulusId, tenant, time }: Occasion, type: string, data: BusEvent['data']): BusEvent {
  return {
    id: `${stimulusId}/${type}`,
    topic: 'stimulus',
    source: 'api',
    type,
    subject: stimulusId,
    tenant,
    time,
    data,
  };
}

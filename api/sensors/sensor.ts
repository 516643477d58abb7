import type { Submission } from '../ingest/index.ts';

/** A stimulus as a sensor hands it over; when it was received is for the loop to say. */
export type SensedStimulus = Omit<Submission, 'receivedAt' | 'signal'>;

/** Something other than a request that stimuli come from (spec 1 §2.4). */
export interface Sensor {
  /** For the log. */
  readonly name: string;
  /**
   * Stimuli, until there are no more or `stop` aborts; what was taken from outside by then still comes. It is asked for
   * the next one only when there is room for it. It logs, and leaves out, what is not a stimulus.
   */
  stimuli(stop: AbortSignal): AsyncIterable<SensedStimulus>;
}

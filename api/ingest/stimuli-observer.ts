import { Counter, type Registry } from 'prom-client';
import { AppError } from '../../lib/errors.ts';
import { isRetryable } from '../../lib/kube/index.ts';
import type { StimulusSource } from '../../lib/stimulus/stimulus.ts';
import type { Ingest, Submission } from './ingest.ts';
import { IngestError, type IngestOutcome } from './ingest-error.ts';

/** How a stimulus ended, for the counter. `unavailable`: the sender may try again. */
type CountedOutcome =
  | IngestOutcome
  | 'routed'
  | 'too_large'
  | 'unavailable'
  | 'failed'
  | 'not_authentic'
  | 'rate_limited';

type Transport = StimulusSource['kind'] | NonNullable<Submission['transport']>;

/** Receives the outcome of each stimulus. */
export interface StimuliObserver {
  ended(transport: Transport, outcome: CountedOutcome): void;
  /** An event about a sender that could not prove itself was not raised. */
  leftOut(): void;
}

/** Counts in a process's own registry. Sources are no label: senders make them up. */
export function createStimuliMetrics(registry: Registry): StimuliObserver {
  const stimuli = new Counter({
    name: 'windlass_stimuli_total',
    help: 'Stimuli by the transport they came through, and how they ended.',
    labelNames: ['transport', 'outcome'],
    registers: [registry],
  });
  const leftOut = new Counter({
    name: 'windlass_stimulus_rejections_left_out_total',
    help: 'Events StimulusRejected that were not raised, because their source had too many.',
    registers: [registry],
  });
  return { ended: (transport, outcome) => stimuli.inc({ transport, outcome }), leftOut: () => leftOut.inc() };
}

/** The same use case, with every outcome reported. */
export function observeIngest(ingest: Ingest, observer: StimuliObserver): Ingest {
  return (submission) => {
    const { source, transport = source.kind } = submission;
    return observed(ingest(submission), transport, observer);
  };
}

/** Holds no submission while it waits: a stimulus lets its content go. */
async function observed<T>(outcome: Promise<T>, transport: Transport, observer: StimuliObserver): Promise<T> {
  try {
    const ingested = await outcome;
    observer.ended(transport, 'routed');
    return ingested;
  } catch (error) {
    observer.ended(transport, outcomeOf(error));
    throw error;
  }
}

function outcomeOf(error: unknown): CountedOutcome {
  if (error instanceof IngestError) return error.outcome;
  if (!(error instanceof AppError)) return 'failed';
  if (error.code === 'limit_exceeded') return 'too_large';
  return isRetryable(error) || error.code === 'cancelled' ? 'unavailable' : 'failed';
}

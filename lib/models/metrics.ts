import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { AttemptOutcome } from './attempt-error.ts';
import type { ModelReply } from './models.ts';

/** `aborted`: the caller wanted no answer any more; `internal`: an exception of this process ended it. */
export type RequestOutcome = 'ok' | 'aborted' | 'internal' | AttemptOutcome;

/** A reason for which requests wait: limits of a provider, `max_concurrency` and `tokens_per_minute`, and its rest after failures. */
export type ModelLimit = 'concurrency' | 'tokens' | 'rest';

/** Hears of every request to a provider. */
export interface ModelObserver {
  requested(provider: string, outcome: RequestOutcome, ms: number): void;
  answered(reply: ModelReply): void;
  /** A request had its turn, or gave up. */
  waited(provider: string, limit: ModelLimit, ms: number): void;
  /** Where to ask how many tokens count to the provider's `tokens_per_minute` just now. */
  counts(provider: string, tokens: () => number): void;
  /** Where to ask how many questions wait just now because the provider rests. */
  rests(provider: string, questions: () => number): void;
}

export const silentObserver: ModelObserver = {
  requested: () => undefined,
  answered: () => undefined,
  waited: () => undefined,
  counts: () => undefined,
  rests: () => undefined,
};

const secondsBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Counts everything in a process's own registry. Providers and models are those of the node configuration. */
export function createModelMetrics(registry: Registry): ModelObserver {
  const registers = [registry];
  const requests = requestCounter(registers);
  const seconds = new Histogram({
    name: 'windlass_model_request_seconds',
    help: 'From the request to the end of the answer, or to its failure.',
    labelNames: ['provider'],
    buckets: secondsBuckets,
    registers,
  });
  const tokens = new Counter({
    name: 'windlass_model_tokens_total',
    help: 'Tokens of answered requests.',
    labelNames: ['provider', 'direction'],
    registers,
  });
  const cost = new Counter({
    name: 'windlass_model_cost_usd_total',
    help: 'Cost of answered requests by the prices of the node configuration.',
    labelNames: ['provider'],
    registers,
  });
  const { counts, ...waits } = waitMetrics(registers);
  return {
    ...waits,
    counts(provider, value) {
      // Prometheus sees an increase only of a series that was there before.
      requests.inc({ provider, outcome: 'internal' }, 0);
      counts(provider, value);
    },
    requested(provider, outcome, ms) {
      requests.inc({ provider, outcome });
      seconds.observe({ provider }, ms / 1_000);
    },
    answered({ provider, input_tokens, output_tokens, cost_usd = 0 }) {
      tokens.inc({ provider, direction: 'input' }, input_tokens);
      tokens.inc({ provider, direction: 'output' }, output_tokens);
      cost.inc({ provider }, cost_usd);
    },
  };
}

const requestCounter = (registers: Registry[]): Counter =>
  new Counter({
    name: 'windlass_model_requests_total',
    help: 'Requests to providers of models, each attempt by itself.',
    labelNames: ['provider', 'outcome'],
    registers,
  });

function waitMetrics(registers: Registry[]): Pick<ModelObserver, 'waited' | 'counts' | 'rests'> {
  const waits = new Histogram({
    name: 'windlass_model_wait_seconds',
    help: 'How long a request waited for its turn at a limit of its provider, or for the end of its rest.',
    labelNames: ['provider', 'limit'],
    buckets: secondsBuckets,
    registers,
  });
  const gauge = (name: string, help: string): ((provider: string, value: () => number) => void) => {
    const values = new Map<string, () => number>();
    new Gauge({
      name,
      help,
      labelNames: ['provider'],
      registers,
      collect() {
        for (const [provider, value] of values) this.set({ provider }, value());
      },
    });
    return (provider, value) => void values.set(provider, value);
  };
  return {
    waited: (provider, limit, ms) => waits.observe({ provider, limit }, ms / 1_000),
    counts: gauge(
      'windlass_model_minute_tokens',
      'Tokens that count to tokens_per_minute of a provider, in this replica.',
    ),
    rests: gauge(
      'windlass_model_resting_questions',
      'Questions that wait in this replica because their provider failed several times in a row.',
    ),
  };
}

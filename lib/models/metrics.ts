import { Counter, Histogram, type Registry } from 'prom-client';
import type { AttemptOutcome } from './attempt-error.ts';
import type { ModelReply } from './models.ts';

/** `aborted`: the caller wanted no answer any more. */
export type RequestOutcome = 'ok' | 'aborted' | AttemptOutcome;

/** Hears of every request to a provider. */
export interface ModelObserver {
  requested(provider: string, outcome: RequestOutcome, ms: number): void;
  answered(reply: ModelReply): void;
}

export const silentObserver: ModelObserver = { requested: () => undefined, answered: () => undefined };

const secondsBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Counts everything in a process's own registry. Providers and models are those of the node configuration. */
export function createModelMetrics(registry: Registry): ModelObserver {
  const registers = [registry];
  const requests = new Counter({
    name: 'windlass_model_requests_total',
    help: 'Requests to providers of models, each attempt by itself.',
    labelNames: ['provider', 'outcome'],
    registers,
  });
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
  return {
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

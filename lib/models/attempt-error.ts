import { ModelError, type ModelFailure } from './models.ts';

/** How one attempt ended, in one word for metrics. */
export type AttemptOutcome =
  | 'rate_limited'
  | 'unavailable'
  | 'timeout'
  | 'busy'
  | 'overloaded'
  | 'refused'
  | 'malformed'
  | 'context_too_long';

interface AttemptRule {
  readonly failure: ModelFailure;
  /** requirements AMB-091: 429, 5xx and the network. */
  readonly isRetried: boolean;
  /** Whether it counts for the circuit breaker. */
  readonly isOutage: boolean;
}

const rules: Readonly<Record<AttemptOutcome, AttemptRule>> = {
  rate_limited: { failure: 'ProviderUnavailable', isRetried: true, isOutage: false },
  unavailable: { failure: 'ProviderUnavailable', isRetried: true, isOutage: true },
  timeout: { failure: 'ProviderUnavailable', isRetried: false, isOutage: true },
  /** On our side: too many requests wait, or the turn did not come in time. */
  busy: { failure: 'ProviderUnavailable', isRetried: false, isOutage: false },
  /** On our side: the provider rests, and another one may answer now. */
  overloaded: { failure: 'ProviderUnavailable', isRetried: false, isOutage: false },
  refused: { failure: 'ProviderRefused', isRetried: false, isOutage: false },
  malformed: { failure: 'MalformedReply', isRetried: false, isOutage: false },
  context_too_long: { failure: 'ContextTooLong', isRetried: false, isOutage: false },
};

/** One request to a provider that failed. The message names neither keys nor prompts. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly outcome: AttemptOutcome;
  /** How long the provider asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(outcome: AttemptOutcome, message: string, retryAfterMs?: number) {
    super(message);
    this.outcome = outcome;
    this.retryAfterMs = retryAfterMs;
  }

  get isRetried(): boolean {
    return rules[this.outcome].isRetried;
  }

  get isOutage(): boolean {
    return rules[this.outcome].isOutage;
  }

  /** The same failure as callers see it. */
  toModelError(provider: string): ModelError {
    return new ModelError(rules[this.outcome].failure, `the provider ${provider} ${this.message}`);
  }
}

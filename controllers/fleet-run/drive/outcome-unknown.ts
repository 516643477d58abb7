import type { EdgeOutcome } from '../../../lib/edge/index.ts';

/** A command that may have run, of which no result comes any more (ADR 0070). */
export const outcomeUnknown = (message: string): EdgeOutcome => ({
  outcome: 'err',
  code: 'OutcomeUnknown',
  message,
  exit_code: 0,
});

export const resultLost = 'the command has ended, and its result was lost';

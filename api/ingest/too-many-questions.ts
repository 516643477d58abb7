import { AppError } from '../../lib/errors.ts';

/** The stimuli of one tenant that wait for router agents have their share of this replica: this one was not asked about. */
export class TooManyQuestionsError extends AppError {
  override readonly name = 'TooManyQuestionsError';
  readonly retryAfterMs = 5_000;

  constructor() {
    super('unavailable', 'too many stimuli of this tenant wait for a router agent; try again, or route the source', {
      reason: 'Overloaded',
    });
  }
}

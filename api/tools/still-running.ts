import { AppError } from '../../lib/errors.ts';

/**
 * The time of the call is over, and its work continues. `what` names it with its id, `ask` how the caller learns of its end.
 * The answer of the tool is `StillRunning: …`.
 */
export const stillRunning = (what: string, ask: string): AppError =>
  new AppError('invalid', `${what} continues: it did not end in the time of this call; ${ask}`, {
    reason: 'StillRunning',
  });

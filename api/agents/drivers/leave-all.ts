import { type Clock, resultWithin } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { LeavingTimes } from '../../leaving-times.ts';
import { Stopped } from '../conversation/log.ts';

/** A conversation that this replica drives, and the ways to end that. */
export interface Leaver {
  /** Between two effects. */
  readonly leave: AbortController;
  /** In the midst of an effect that the next driver makes again. */
  readonly giveUp: AbortController;
  /** In the midst of any effect. */
  readonly cancel: AbortController;
  /** Resolves when nothing of it runs here any more. */
  readonly ended: Promise<void>;
}

interface LeaveDeps {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}

/** For conversations whose effects heed no signal; the process ends without them. */
const lastMs = 2_000;

/**
 * Ends the driving of conversations, so that other replicas continue them. Nothing is written down of an effect that is
 * given up: a tool that is not idempotent has an unknown outcome then. Never rejects.
 */
export async function leaveAll(
  { clock, logger }: LeaveDeps,
  driven: readonly Leaver[],
  { repeatableMs, callsMs }: LeavingTimes,
): Promise<void> {
  let left = driven.length;
  const ended = Promise.all(driven.map((one) => one.ended.then(() => (left -= 1)))).then(() => true);
  for (const { leave } of driven) leave.abort();
  if (await resultWithin(clock, repeatableMs, ended)) return;
  for (const { giveUp } of driven) giveUp.abort(new Stopped());
  if (await resultWithin(clock, callsMs - repeatableMs, ended)) return;
  logger.warn({ conversations: left }, 'tool calls given up at the end of the grace: their outcome is unknown');
  for (const { cancel } of driven) cancel.abort(new Stopped());
  await resultWithin(clock, lastMs, ended);
}

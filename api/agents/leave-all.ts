import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { LeavingTimes } from '../leaving-times.ts';
import { Stopped } from './log.ts';

/** A conversation that this replica drives, and the ways to end that. */
export interface Leaver {
  /** Between two effects. */
  readonly leave: AbortController;
  /** In the midst of an effect that the next driver makes again. */
  readonly giveUp: AbortController;
  /** In the midst of any effect. */
  readonly cancel: AbortController;
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
  const ended = Promise.all(driven.map((one) => one.ended.then(() => (left -= 1))));
  for (const { leave } of driven) leave.abort();
  if (await endsWithin(clock, ended, repeatableMs)) return;
  for (const { giveUp } of driven) giveUp.abort(new Stopped());
  if (await endsWithin(clock, ended, callsMs - repeatableMs)) return;
  logger.warn({ conversations: left }, 'tool calls given up at the end of the grace: their outcome is unknown');
  for (const { cancel } of driven) cancel.abort(new Stopped());
  await endsWithin(clock, ended, lastMs);
}

async function endsWithin(clock: Clock, work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = new AbortController();
  const isEnded = await Promise.race([work.then(() => true), clock.sleep(ms, over.signal).then(() => false)]);
  over.abort();
  return isEnded;
}

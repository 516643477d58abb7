import type { AppError } from '../../lib/errors.ts';
import { createLoopTurns } from '../../lib/loop-turns.ts';
import type { LiveStream } from './live-stream.ts';

/** Streams that one turn of the event loop ends: each takes some tenths of a millisecond. */
export const endedPerTurn = 50;

/** Ends the streams that are open now. Other streams are served in between, and a probe is. */
export async function endInTurns(open: Iterable<Pick<LiveStream, 'end'>>, problem: AppError): Promise<void> {
  const spend = createLoopTurns(endedPerTurn);
  const openNow = [...open];
  for (const stream of openNow) {
    stream.end(problem);
    await spend(1);
  }
}

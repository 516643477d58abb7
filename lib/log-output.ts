import { pino } from 'pino';
import type { Clock } from './clock.ts';

/** How long a line waits for others that are written with it. */
const gatherMs = 100;
/** A piece of this size waits for nobody. */
const pieceBytes = 4_096;

/**
 * Standard output, for many lines a second: they share writes, and nobody waits for a slow reader. What waits is written
 * when the process exits, unless it is killed.
 */
export function gatheredOutput(clock: Clock): { write(line: string): void } {
  const output = pino.destination({ dest: 1, sync: false, minLength: pieceBytes });
  let isWaiting = false;
  return {
    write(line) {
      output.write(line);
      if (isWaiting) return;
      isWaiting = true;
      void clock.sleep(gatherMs).then(() => {
        isWaiting = false;
        output.flush();
      });
    },
  };
}

import { pino } from 'pino';
import type { Clock } from './clock.ts';

/** How long a line waits for others that are written with it. */
const gatherMs = 100;
/** Lines of this length together are written at once; in characters. */
const pieceLength = 4_096;

/** Standard output for log lines, many a second: they share writes. */
interface GatheredOutput {
  write(line: string): void;
  /** Writes what waits. A process calls it when it exits; one that is killed loses the last lines. */
  flush(): void;
}

export function gatheredOutput(clock: Clock): GatheredOutput {
  // Waits for a slow reader, and continues without one that is gone.
  const output = pino.destination({ dest: 1, sync: true });
  let waiting = '';
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    if (text !== '') output.write(text);
  };
  return {
    flush,
    write(line) {
      if (waiting === '') void clock.sleep(gatherMs).then(flush);
      waiting += line;
      if (waiting.length >= pieceLength) flush();
    },
  };
}

import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';

/** The parts of the Node.js process that ending it gracefully needs. */
interface ProcessPort {
  on(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  exit(code: number): void;
}

interface ProcessRuntimeDeps {
  readonly process: ProcessPort;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long work under way may take after the first signal, in milliseconds. Default: 20 s. */
  readonly graceMs?: number;
}

/** Turns signals of the operating system into abort signals. */
export interface ProcessRuntime {
  /** Aborts at the first SIGTERM or SIGINT. */
  readonly stop: AbortSignal;
  /** Aborts when the grace is over: what still runs is to be given up. */
  readonly abandon: AbortSignal;
  /** Aborts 2 s after `abandon`: answers about what was given up are not waited for any longer. */
  readonly breakOff: AbortSignal;
  /** Begins the same stop from inside. */
  requestStop(reason: string): void;
}

/** Below the 30 s that the kubelet gives a pod by default. */
const usualGraceMs = 20_000;
/** Time for answers about what was given up. */
const lastAnswersMs = 2_000;
/** Time for releasing the lease and closing connections after that. */
const lastMs = 3_000;

/**
 * The first signal begins a graceful stop, a second one ends the process at once. When the grace and a little more
 * are over the process is ended whatever still runs. An unhandled error is logged and ends it with code 1:
 * state in memory can no longer be trusted, and all state that counts is on the server.
 */
export function createProcessRuntime(deps: ProcessRuntimeDeps): ProcessRuntime {
  const { process, clock, logger, graceMs = usualGraceMs } = deps;
  const stop = new AbortController();
  const abandon = new AbortController();
  const breakOff = new AbortController();

  function begin(reason: string): void {
    if (stop.signal.aborted) return process.exit(1);
    logger.info({ reason }, 'stopping');
    stop.abort();
    void countDown();
  }

  async function countDown(): Promise<void> {
    await clock.sleep(graceMs);
    abandon.abort();
    await clock.sleep(lastAnswersMs);
    breakOff.abort();
    await clock.sleep(lastMs);
    logger.error({}, 'stop took too long');
    process.exit(1);
  }

  process.on('SIGTERM', () => begin('SIGTERM'));
  process.on('SIGINT', () => begin('SIGINT'));
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (err) => {
      logger.error({ err, event }, 'unhandled error');
      process.exit(1);
    });
  }
  return {
    stop: stop.signal,
    abandon: abandon.signal,
    breakOff: breakOff.signal,
    requestStop: (reason) => (stop.signal.aborted ? undefined : begin(reason)),
  };
}

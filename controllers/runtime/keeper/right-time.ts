import { type ClockSkew, createClockSkew } from '../../../lib/kube/index.ts';
import type { Logger } from '../../../lib/logger.ts';
import { skewMostMs } from '../tenure.ts';

/**
 * Whether this process has the time of the API server. Deadlines are points in time: a process with another idea of the
 * time must not decide that one has passed.
 */
interface RightTime extends Pick<ClockSkew, 'observe'> {
  /**
   * False keeps a request for the Lease back. Meanwhile each call has `measure` ask the server again, once at a time: no
   * other request would tell that the time is right again. One wrong measurement may be a fault of one answer, and keeps
   * back no more than the next request; the second in a row is an error.
   */
  isRight(measure: () => Promise<unknown>): boolean;
}

export function createRightTime({ logger }: { readonly logger: Pick<Logger, 'error' | 'info'> }): RightTime {
  /** Wrong measurements in a row. */
  let wrong = 0;
  let isMeasuring = false;
  const note = (skewMs: number): void => {
    const isWrong = Math.abs(skewMs) > skewMostMs;
    if (isWrong && wrong === 1) {
      logger.error({ skewMs }, "this clock and the API server's are too far apart, the lease is not renewed");
    }
    if (!isWrong && wrong > 1) logger.info({ skewMs }, "this clock and the API server's agree again");
    wrong = isWrong ? wrong + 1 : 0;
  };
  return {
    observe(...answer) {
      const measured = createClockSkew();
      measured.observe(...answer);
      const skewMs = measured.ms();
      if (skewMs !== undefined) note(skewMs);
    },
    isRight(measure) {
      if (wrong === 0) return true;
      if (!isMeasuring) {
        isMeasuring = true;
        // An answer of any kind has the time; without one the next call asks again.
        void measure()
          .catch(() => undefined)
          .finally(() => {
            isMeasuring = false;
          });
      }
      return false;
    },
  };
}

import type { Clock } from '../../lib/clock.ts';
import { refOfKey } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';

/** Tells of reconciles that were not allowed: of a namespace once an hour, for one cause stops all of its objects. */
export interface RefusalLog {
  tell(logger: Logger, key: string, err: unknown): void;
}

/** Before a namespace is warned of again, in milliseconds. */
const QUIET_MS = 3_600_000;

export function createRefusalLog(clock: Clock): RefusalLog {
  /** Until when more of a namespace is routine. */
  const quiet = new Map<string, number>();
  return {
    tell(logger, key, err) {
      const { namespace = '' } = refOfKey(key);
      const now = clock.now();
      if ((quiet.get(namespace) ?? now) > now) return logger.debug({ err }, 'reconcile is not allowed');
      for (const [known, until] of quiet) if (until <= now) quiet.delete(known);
      quiet.set(namespace, now + QUIET_MS);
      logger.warn({ err }, 'reconcile is not allowed; more of this namespace is logged at debug');
    },
  };
}

import type { Clock } from '../../lib/clock.ts';
import { refOfKey } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';

/** Logs reconciles that were forbidden: once an hour for each namespace, since one cause stops all of its objects. */
export interface RefusalLog {
  tell(logger: Logger, key: string, err: unknown): void;
}

/** How long until there is another warning about a namespace, in milliseconds. */
const quietMs = 3_600_000;

export function createRefusalLog(clock: Clock): RefusalLog {
  /** Until when further refusals in a namespace are routine. */
  const quiet = new Map<string, number>();
  return {
    tell(logger, key, err) {
      const { namespace = '' } = refOfKey(key);
      const now = clock.now();
      if ((quiet.get(namespace) ?? now) > now) return logger.debug({ err }, 'reconcile is not allowed');
      for (const [known, until] of quiet) if (until <= now) quiet.delete(known);
      quiet.set(namespace, now + quietMs);
      logger.warn({ err }, 'reconcile is not allowed; more of this namespace is logged at debug');
    },
  };
}

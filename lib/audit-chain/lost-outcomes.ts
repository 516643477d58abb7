import { messageOf } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { AuditObserver } from './audit-observer.ts';
import type { GatewayEvent } from './gateway-event.ts';

/** Counts outcomes that will never be stored, and logs them together: an outage loses many at one time. */
export interface LostOutcomes {
  add(event: Pick<GatewayEvent, 'type'>, problem: unknown): void;
  /** Writes one line, with the number of each type since the line before; none where nothing was lost. */
  log(): void;
}

export function createLostOutcomes(logger: Pick<Logger, 'error'>, observer: AuditObserver): LostOutcomes {
  const types = new Map<string, number>();
  let problem: unknown;
  let total = 0;
  return {
    add({ type }, cause) {
      types.set(type, (types.get(type) ?? 0) + 1);
      problem = cause;
      total += 1;
      observer.lost(type);
    },
    log() {
      if (types.size === 0) return;
      const lost = Object.fromEntries(types);
      types.clear();
      logger.error(
        { lost, total, problem: messageOf(problem) },
        'outcomes are missing in the audit; their intents are there',
      );
    },
  };
}

import type { Clock } from '../../../lib/clock.ts';

/** Whether one more event about a sender that could not prove itself may be raised. */
export type RejectionBudget = () => boolean;

/** Events at once, and each second from then on. */
const burst = 100;
const perSecond = 10;

/** Anybody can send webhooks with wrong signatures; the events that tell of them must not push out the others. */
export function createRejectionBudget(clock: Clock): RejectionBudget {
  let left = burst;
  let at = clock.now();
  return () => {
    const now = clock.now();
    left = Math.min(burst, left + (Math.max(0, now - at) / 1_000) * perSecond);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

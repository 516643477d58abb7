import type { EventBus } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { hasReason } from '../../../lib/errors.ts';
import { createSilences } from '../../../lib/silences.ts';

/**
 * The replica that drives a conversation answers here: to `handOver` once it has left it, to anything else that it is there. One that
 * is in the midst of an effect answers `leaving` to both: no other replica may begin that effect while it lives.
 */
export const addressOf = (executionId: string) => ({ service: 'agent.conversation', key: executionId });

export const handOver = 'hand_over';

/** How long a driver that was asked to leave a conversation is waited for at a time. */
export const handOverMs = 20_000;

export const driverAnswers = {
  /** It drives on. */
  here: 'here',
  /** It leaves behind its effect, such as a question to a model, which may take minutes. */
  leaving: 'leaving',
  left: 'left',
} as const;

export const pingMs = 2_000;

/** Looks at a driver without an answer, one after another, behind which it is taken for frozen or cut off. */
export const silentLooks = 3;
/** Looks that are further apart say nothing of the time between them: a driver that is slow now and then is there. */
const looksApartMs = 15_000;
/** Conversations whose drivers are remembered as silent: more than a replica drives. */
const remembered = 10_000;

/** How long a driver whose connection broke may take until its address is served again. */
export const reconnectMs = 3_000;

/**
 * One look at a conversation finds one of these. `drives`: a replica says that it drives it. `unknown`: one may, as the bus is away,
 * or a driver was silent for a moment. `left`: its driver has left it, or is silent for long. `unserved`: no process has the
 * address; one that connects again is not heard for a moment.
 */
type DriverLook = 'drives' | 'unknown' | 'left' | 'unserved';

/** Whether another replica drives the conversation, as far as this one can know. */
export const mayBeDriven = (look: DriverLook): boolean => look === 'drives' || look === 'unknown';

/** Looks at the drivers of conversations. */
export interface DriverLooks {
  readonly look: (executionId: string) => Promise<DriverLook>;
}

export interface DriverLooksDeps {
  readonly bus: Pick<EventBus, 'request'>;
  readonly clock: Pick<Clock, 'steadyMs'>;
  /** Default 15 s. */
  readonly apartMs?: number;
}

/**
 * The server of NATS keeps the address of a process that is frozen until its pings have failed, for minutes perhaps. One that
 * is silent each time counts as gone: if it lives, its next record is refused, as it was overtaken.
 */
export function createDriverLooks({ bus, clock, apartMs = looksApartMs }: DriverLooksDeps): DriverLooks {
  const silences = createSilences({ now: () => clock.steadyMs(), apartMs, remembered });
  return {
    look: async (executionId) => {
      try {
        const answer = await bus.request(addressOf(executionId), 'ping', { timeoutMs: pingMs });
        silences.end(executionId);
        return Buffer.from(answer).toString() === driverAnswers.left ? 'left' : 'drives';
      } catch (error) {
        if (hasReason(error, 'RequestTimeout'))
          return silences.again(executionId).looks < silentLooks ? 'unknown' : 'left';
        silences.end(executionId);
        return isUnserved(error) ? 'unserved' : 'unknown';
      }
    },
  };
}

/** Whether no replica answers at an address. */
export const isUnserved = (error: unknown): boolean => hasReason(error, 'NoResponders');

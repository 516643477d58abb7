import { aborted } from '../../../lib/aborted.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import type { Responder } from '../../../lib/bus/request/requester.ts';
import { type Clock, resultWithin } from '../../../lib/clock.ts';
import { Stopped } from '../conversation/log.ts';
import type { Driven } from './driven.ts';
import { addressOf, driverAnswers, handOver, handOverMs, pingMs } from './driver-address.ts';

interface ServeDeps {
  readonly bus: Pick<EventBus, 'serve'>;
  readonly clock: Clock;
}

/** Half of the time in which the answer has to arrive. */
const waitOf = { handOver: handOverMs / 2, ping: pingMs / 2 } as const;

/** Answers for the driver of a conversation, and asks it to leave where another replica wants the conversation. */
export function serveDriver({ bus, clock }: ServeDeps, uid: string, driven: Driven): Responder {
  return bus.serve(addressOf(uid), async ({ body, signal }) => {
    const isHandOver = Buffer.from(body).toString() === handOver;
    // One that is to leave is handed over to whichever replica asks.
    if (!isHandOver && !driven.leave.signal.aborted) return driverAnswers.here;
    driven.leave.abort();
    driven.moved.abort(new Stopped());
    const left = Promise.race([driven.left.then(() => true), aborted(signal)]);
    const hasLeft = await resultWithin(clock, isHandOver ? waitOf.handOver : waitOf.ping, left);
    return hasLeft === undefined ? driverAnswers.leaving : driverAnswers.left;
  });
}

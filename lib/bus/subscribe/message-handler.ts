import type { JsMsg } from '@nats-io/jetstream';
import { aborted } from '../../aborted.ts';
import type { Clock } from '../../clock.ts';
import { startDeadline } from '../../deadline.ts';
import { AppError } from '../../errors.ts';
import type { FairPool, PoolPart } from '../../fair-pool.ts';
import type { Logger } from '../../logger.ts';
import type { BusObserver } from '../bus-observer.ts';
import type { BusEvent, EventSink } from '../event-bus.ts';
import { busLimits } from '../limits.ts';
import { readSubject, sourceName } from '../publish/stream-subjects.ts';
import type { HandleDelivery, SubscriptionDefinition } from './subscription.ts';
import { type DeliveryVerdict, judgeArrival, judgeFailure } from './verdict.ts';

export interface HandlerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<BusObserver, 'delivered'>;
  readonly events: EventSink;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** Name of the process, the source of its events. */
  readonly name: string;
  readonly pool: FairPool;
  /** Aborts when no message is begun any more. */
  readonly stop: AbortSignal;
  /** Aborts when messages under way are broken off. */
  readonly abandon: AbortSignal;
}

/** Handles one delivered message to its end: acknowledged, returned, or a dead letter. Never rejects. */
export type HandleMessage = (message: JsMsg) => Promise<void>;

const returned = { kind: 'returned' } as const;
type Ending = DeliveryVerdict | typeof returned;

export function createMessageHandler(
  deps: HandlerDeps,
  definition: SubscriptionDefinition,
  handle: HandleDelivery,
): HandleMessage {
  const most = definition.attempts ?? busLimits.attempts;
  const backoff = definition.backoff ?? { baseMs: busLimits.retryBaseMs, maxMs: busLimits.retryMaxMs };

  async function end(message: JsMsg): Promise<Ending> {
    const number = message.info.deliveryCount;
    const arrival = judgeArrival({ number, most });
    if (arrival !== undefined) return arrival;
    const { tenant } = readSubject(definition.source, message.subject);
    const place = await deps.pool.enter({ tenant, signal: deps.stop }).catch(() => undefined);
    if (place === undefined) return returned;
    try {
      await attempt(deps, definition, { message, place, handle });
      return { kind: 'done' };
    } catch (error) {
      if (deps.abandon.aborted) return returned;
      return judgeFailure(error, { number, most, backoff, random: deps.random() });
    }
  }

  return async (message) => {
    const started = deps.clock.now();
    const over = new AbortController();
    void announce(deps.clock, message, over.signal);
    const ending = await end(message);
    over.abort();
    answer(message, ending);
    deps.observer.delivered(definition.name, ending.kind, deps.clock.now() - started);
    report(deps, definition, message, ending);
  };
}

interface Begun {
  readonly message: JsMsg;
  readonly place: PoolPart;
  readonly handle: HandleDelivery;
}

/** @throws the handler's error, or AppError `timeout`; a handler that ignores its signal continues without a place. */
async function attempt(
  { clock, abandon }: HandlerDeps,
  { source, handleMs = busLimits.handleMs }: SubscriptionDefinition,
  { message, place, handle }: Begun,
): Promise<void> {
  using _place = place;
  using deadline = startDeadline(clock, handleMs, abandon);
  const { signal } = deadline;
  const { info, data: body, seq: sequence, timestamp: time } = message;
  const whose = readSubject(source, message.subject);
  const handled = handle({ ...whose, body, sequence, attempt: info.deliveryCount, time, signal });
  const late = aborted(signal).then(() => {
    throw new AppError('timeout', 'the time for handling the message is over', { reason: 'HandlingTimeout' });
  });
  await Promise.race([handled, late]);
}

/** The server would deliver it again to another replica while it waits or is handled. */
async function announce(clock: Clock, message: JsMsg, signal: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(busLimits.progressMs, signal);
    if (signal.aborted) return;
    attemptSend(() => message.working());
  }
}

function answer(message: JsMsg, ending: Ending): void {
  attemptSend(() => {
    switch (ending.kind) {
      case 'done':
        return message.ack();
      case 'again':
        return message.nak(ending.afterMs);
      case 'dead':
        return message.term(ending.reason);
      case 'returned':
        return message.nak();
    }
  });
}

/** The connection may have ended meanwhile: the server then delivers the message again, to another replica. */
function attemptSend(send: () => void): void {
  try {
    send();
  } catch {
    // A closed connection; nothing can be said over it any more.
  }
}

interface DeadLetter {
  readonly consumer: string;
  readonly stream: string;
  readonly sequence: number;
  readonly attempts: number;
  readonly reason: string;
  readonly tenant: string;
  /** Name of the process. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Topic of events about the bus itself. */
const topic = 'bus';

/**
 * Says that a message will not be delivered to a consumer any more, and where it is: the stream keeps it as long as every
 * other. Its content and the text of the error, which may hold what the tenant's users must not see, stay out.
 */
const deadLetterEvent = {
  topic,
  of({ consumer, stream, sequence, attempts, reason, tenant, name, now }: DeadLetter): BusEvent {
    return {
      id: `dead-letter-${consumer}-${stream}-${sequence}`,
      topic,
      source: name,
      type: 'MessageDeadLettered',
      subject: consumer,
      tenant,
      time: new Date(now).toISOString(),
      data: { consumer, stream, sequence, attempts, reason },
    };
  },
} as const;

function report(
  { logger, events, name, clock }: HandlerDeps,
  definition: SubscriptionDefinition,
  message: JsMsg,
  ending: Ending,
): void {
  if (ending.kind !== 'again' && ending.kind !== 'dead') return;
  const { tenant, key } = readSubject(definition.source, message.subject);
  const where = { consumer: definition.name, stream: sourceName(definition.source), sequence: message.seq };
  const attempts = message.info.deliveryCount;
  if (ending.kind === 'again') {
    logger.warn({ ...where, tenant, attempts, problem: ending.problem }, 'message failed, comes again');
    return;
  }
  logger.error({ ...where, tenant, attempts, reason: ending.reason, problem: ending.problem }, 'dead letter');
  // A dead letter about a dead letter would make another one, for ever.
  const isAboutOne = definition.source === 'events' && key === deadLetterEvent.topic;
  if (!isAboutOne)
    events.raise(deadLetterEvent.of({ ...where, attempts, reason: ending.reason, tenant, name, now: clock.now() }));
}

import type { BusEvent } from '../event-bus.ts';

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
export const deadLetterEvent = {
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

import type { EventBus } from '../../lib/bus/index.ts';
import { hasReason } from '../../lib/errors.ts';

/** The replica that drives a conversation answers here: to `hand_over` once it has left it, to anything else that it is there. */
export const addressOf = (executionId: string) => ({ service: 'agent.conversation', key: executionId });

/** How long a driver may take to leave a conversation. */
export const handOverMs = 20_000;

/** The answer of a replica that drives on. */
export const here = 'here';

const pingMs = 2_000;

/** Whether a replica drives a conversation, as far as this one can know. */
export async function isServed(bus: Pick<EventBus, 'request'>, executionId: string): Promise<boolean> {
  try {
    const answer = await bus.request(addressOf(executionId), 'ping', { timeoutMs: pingMs });
    return Buffer.from(answer).toString() === here;
  } catch (error) {
    return !isUnserved(error);
  }
}

/** Whether no replica answers at an address. */
export const isUnserved = (error: unknown): boolean => hasReason(error, 'NoResponders');

import { hasReason } from '../../lib/errors.ts';

/** The replica that drives a conversation answers here: to `hand_over` once it has left it, to anything else that it is there. */
export const addressOf = (executionId: string) => ({ service: 'agent.conversation', key: executionId });

/** How long a driver may take to leave a conversation. */
export const handOverMs = 20_000;

/** Whether no replica answers at an address. */
export const isUnserved = (error: unknown): boolean => hasReason(error, 'NoResponders');

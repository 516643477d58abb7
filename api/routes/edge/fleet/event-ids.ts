import type { NewsPlace } from '../../../../lib/edge/index.ts';

/**
 * How far a client has read the events of a run. `log`: up to one event of a message in the log of results. `records`: all that the log
 * had, and so many records of the run. `error`: all but the last event.
 */
export type EventPlace =
  | { readonly kind: 'start' }
  | ({ readonly kind: 'log'; readonly slot: number } & NewsPlace)
  | { readonly kind: 'records'; readonly count: number }
  | { readonly kind: 'error' };

export const fromStart: EventPlace = { kind: 'start' };

/** The id of the event that ends a stream. */
export const endId = 'end';
export const errorId = 'error';

export const logId = ({ sequence, storedAt }: NewsPlace, slot: number): string => `${sequence}-${storedAt}-${slot}`;
export const recordId = (count: number): string => `r${count}`;

const inLog = /^(?<sequence>\d{1,15})-(?<storedAt>\d{1,15})-(?<slot>\d)$/;
const inRecords = /^r(?<count>\d{1,9})$/;

/** Undefined for a text that is no id of such an event. */
export function readEventId(id: string): EventPlace | undefined {
  if (id === errorId) return { kind: 'error' };
  const { sequence, storedAt, slot } = inLog.exec(id)?.groups ?? {};
  if (sequence !== undefined)
    return { kind: 'log', sequence: Number(sequence), storedAt: Number(storedAt), slot: Number(slot) };
  const { count } = inRecords.exec(id)?.groups ?? {};
  return count === undefined ? undefined : { kind: 'records', count: Number(count) };
}

/** Whether a client that has read so far has this event of the log. A log that was lost begins with low sequences again, later. */
export function hasRead(after: EventPlace, { sequence, storedAt }: NewsPlace, slot: number): boolean {
  if (after.kind !== 'log') return after.kind !== 'start';
  if (sequence === after.sequence && storedAt === after.storedAt) return slot <= after.slot;
  return sequence <= after.sequence && storedAt <= after.storedAt;
}

/** Records that such a client has. */
export function recordsRead(after: EventPlace): number {
  if (after.kind === 'records') return after.count;
  return after.kind === 'error' ? Number.POSITIVE_INFINITY : 0;
}

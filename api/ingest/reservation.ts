import { hash } from 'node:crypto';

/** The stored value of an idempotency key for 24 hours (spec 1 §2.4). The field names are those of the stored JSON. */
export interface KeyReservation {
  /** The stimulus that came first; its execution's name follows from it. */
  readonly stimulus_id: string;
  /** `reserved`: a replica is at work; `routed`: its execution exists, or existed. */
  readonly state: 'reserved' | 'routed';
  readonly workflow_execution_id?: string;
  /** When it was reserved, or taken over, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * For how long a reservation belongs to the replica that made it. Within the first part of it the execution is asked
 * for, or the reservation renewed; the rest is for that request to end, and for clocks that differ.
 */
export const leaseMs = 15_000;
export const createWithinMs = 4_000;
export const createTimeoutMs = 8_000;

/** The reservation of another submission as a later one sees it. */
export type Standing =
  /** It was routed: the second one is a duplicate. */
  | { readonly kind: 'settled' }
  /** Its maker may be at work still; after `forMs` it is too late for that. */
  | { readonly kind: 'held'; readonly forMs: number }
  /** Its maker is gone, with or without having started the execution. */
  | { readonly kind: 'abandoned' };

/** Pure. A time of reservation that lies ahead of us is that of another clock: as if it were now. */
export function standingOf({ state, at }: KeyReservation, now: number): Standing {
  if (state === 'routed') return { kind: 'settled' };
  const left = leaseMs - Math.max(0, now - at);
  return left > 0 ? { kind: 'held', forMs: left } : { kind: 'abandoned' };
}

/**
 * The bucket's key of a tenant's (source, key). None of the three can be chosen so that it meets another's (AMB-048).
 * A digest, because an annotation of the execution holds it too, and a sender's key may be any text.
 */
export function reservationKey(tenant: string, source: string, key: string): string {
  return hash('sha256', JSON.stringify([tenant, source, key]));
}

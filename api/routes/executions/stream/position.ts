import { limits } from '../../../../crds/limits.ts';

/**
 * The position of an event in the history of its execution. It follows from the event's subject alone, so that every
 * replica, at any time, gives the same event the same place (see `eventId`).
 */
export interface EventPosition {
  /** 0: before the first visit of a state; then the visits in their order; the end is behind all of them. */
  readonly visit: number;
  readonly rank: number;
}

const endOfVisit = Number.MAX_SAFE_INTEGER;
const behindAll = Number.MAX_SAFE_INTEGER;

export const startPosition: EventPosition = { visit: 0, rank: 0 };
export const endPosition: EventPosition = { visit: behindAll, rank: 0 };
/** Before the start: the position of a client that has received nothing. */
export const nowhere: EventPosition = { visit: -1, rank: 0 };

/** Places within a visit, which is counted from 1. A Human state has no attempts, so rank 1 is free. */
export const visitStarted = (visit: number): EventPosition => ({ visit, rank: 0 });
export const approvalRequested = (visit: number): EventPosition => ({ visit, rank: 1 });
export const attemptStarted = (visit: number, attempt: number): EventPosition => ({ visit, rank: attempt });
export const visitCompleted = (visit: number): EventPosition => ({ visit, rank: endOfVisit });

export function isBehind(a: EventPosition, b: EventPosition): boolean {
  return a.visit === b.visit ? a.rank > b.rank : a.visit > b.visit;
}

/** `start`, `3.started`, `3.approval`, `3.attempt.2`, `3.completed`, `end`. */
export function eventId({ visit, rank }: EventPosition): string {
  if (visit === startPosition.visit) return 'start';
  if (visit === behindAll) return 'end';
  if (rank === 0) return `${visit}.started`;
  if (rank === 1) return `${visit}.approval`;
  return rank === endOfVisit ? `${visit}.completed` : `${visit}.attempt.${rank}`;
}

const pattern = /^([1-9]\d{0,2})\.(started|approval|completed|attempt\.([1-9]\d?))$/;

/** The reverse of `eventId`; undefined for what is no id of an event. */
export function positionOf(id: string): EventPosition | undefined {
  if (id === 'start') return startPosition;
  if (id === 'end') return endPosition;
  const [, number, what = '', attempt] = pattern.exec(id) ?? [];
  const visit = Number(number);
  if (!(visit <= limits.transitionsMax + 1)) return undefined;
  return attempt === undefined ? places[what]?.(visit) : attemptOf(visit, Number(attempt));
}

const places: Readonly<Record<string, (visit: number) => EventPosition>> = {
  started: visitStarted,
  approval: approvalRequested,
  completed: visitCompleted,
};

function attemptOf(visit: number, attempt: number): EventPosition | undefined {
  return attempt >= 2 && attempt <= limits.retryAttemptsMax ? attemptStarted(visit, attempt) : undefined;
}

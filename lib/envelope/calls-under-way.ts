import type { Clock } from '../clock.ts';
import { AppError, hasReason } from '../errors.ts';
import { EnvelopeError } from './envelope-error.ts';

/** One call, from before its session is read until its answer is there. */
interface SealedCallUnderWay extends Disposable {
  /** Aborts when the session is revoked and the call has not ended in its time, or when the caller's own signal does. */
  readonly signal: AbortSignal;
}

/** The signed calls of this process, by the `sessionKey` of the session that they name. */
export interface CallsUnderWay {
  enter(session: string, outer: AbortSignal): SealedCallUnderWay;
  /**
   * Resolves when every call of the session that is under way now has ended; calls that enter later do not count.
   * After `patienceMs` their signals abort.
   */
  drained(session: string, patienceMs: number): Promise<void>;
}

interface Entry {
  readonly over: AbortController;
  readonly ended: Promise<void>;
}

export function createCallsUnderWay(clock: Clock): CallsUnderWay {
  const calls = new Map<string, Set<Entry>>();
  return {
    enter(session, outer) {
      const over = new AbortController();
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const entry: Entry = { over, ended };
      const entries = calls.get(session) ?? new Set();
      calls.set(session, entries.add(entry));
      const abort = (): void => over.abort(outer.reason);
      if (outer.aborted) abort();
      outer.addEventListener('abort', abort, { once: true });
      return {
        signal: over.signal,
        [Symbol.dispose]() {
          outer.removeEventListener('abort', abort);
          entries.delete(entry);
          if (entries.size === 0 && calls.get(session) === entries) calls.delete(session);
          resolve();
        },
      };
    },
    async drained(session, patienceMs) {
      const entries = [...(calls.get(session) ?? [])];
      if (entries.length === 0) return;
      const patience = new AbortController();
      void clock.sleep(patienceMs, patience.signal).then(() => {
        if (!patience.signal.aborted) for (const { over } of entries) over.abort(revoked());
      });
      await Promise.all(entries.map(({ ended }) => ended));
      patience.abort();
    },
  };
}

/** Whether the signal of a call aborts because its session was revoked. */
export const isSessionRevoked = ({ reason }: AbortSignal): boolean => hasReason(reason, 'SessionRevoked');

/** The refusal of a call whose signal aborted since its session was revoked; the same error for every other call. */
export const unlessRevoked = (error: unknown, signal: AbortSignal): unknown =>
  isSessionRevoked(signal)
    ? new EnvelopeError(
        'session_revoked',
        'the session was revoked while the call ran; its work may have been done in part',
      )
    : error;

const revoked = (): AppError =>
  new AppError('cancelled', 'the session of the call was revoked', { reason: 'SessionRevoked' });

import { type CallsUnderWay, sessionKey, type SessionName, type SealSessions } from '../../../lib/envelope/index.ts';

/** By what a signed call may still begin after it has waited (ADR 0056). */
export interface BeginDeps {
  /** The list of this replica: a revocation waits for the calls in it. */
  readonly admission: Pick<CallsUnderWay, 'enter'>;
  readonly sessions: Pick<SealSessions, 'find'>;
}

/** The right of one call to begin, held until it is disposed. */
export interface BeginPermit extends Disposable {
  /** The session was revoked, or is gone, before the call began. */
  readonly isRefused: boolean;
  /** @throws AppError `unavailable` where the session cannot be read, or this replica takes no signed calls yet. */
  ask(): Promise<boolean>;
}

/**
 * As a call enters its lane: first into the list, then the session is read from its leader. A revocation that was written
 * before refuses the call, and one that is written afterwards finds it in the list.
 */
export function createBeginPermit({ admission, sessions }: BeginDeps, name: SessionName): BeginPermit {
  let entry: Disposable | undefined;
  let isRefused = false;
  return {
    get isRefused() {
      return isRefused;
    },
    async ask() {
      entry ??= admission.enter(sessionKey(name), never);
      const session = await sessions.find(name);
      isRefused = session === undefined || session.revoked === true;
      return !isRefused;
    },
    [Symbol.dispose]: () => entry?.[Symbol.dispose](),
  };
}

/** Nothing calls a command back that a pod has. */
const never = new AbortController().signal;

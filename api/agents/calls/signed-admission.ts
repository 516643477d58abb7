import { notConfiguredProblem } from '../../../lib/bus/absent-bus.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import {
  type CallsUnderWay,
  createCallsUnderWay,
  createRevocations,
  type SealSessions,
} from '../../../lib/envelope/index.ts';
import { AppError } from '../../../lib/errors.ts';
import type { NewId } from '../../../lib/ids.ts';
import type { Logger } from '../../../lib/logger.ts';

/** The list of signed calls at this replica of the API, for which a revocation of their session waits (ADR 0056). */
export interface SignedAdmission extends Pick<CallsUnderWay, 'enter'> {
  /** Resolves when calls may enter; before that `enter` throws AppError `unavailable`. */
  readonly opened: Promise<void>;
  /** Opens the list, and answers those who revoke until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** After the last call. */
  close(): Promise<void>;
}

interface AdmissionDeps {
  readonly bus: Pick<EventBus, 'bucket' | 'watch' | 'serve' | 'requestAll' | 'problem'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly sessions: SealSessions;
}

export function createSignedAdmission(deps: AdmissionDeps): SignedAdmission {
  const calls = createCallsUnderWay(deps.clock);
  const revocations = createRevocations({ ...deps, calls });
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  let isOpen = false;
  const open = (): void => {
    isOpen = true;
    resolve();
  };
  return {
    opened,
    enter(session, outer) {
      if (!isOpen) throw notYet();
      return calls.enter(session, outer);
    },
    async run(signal) {
      // Without NATS this process has the only replica that could know of its sessions.
      if (deps.bus.problem() === notConfiguredProblem) return open();
      await revocations.open(signal);
      if (signal.aborted) return;
      open();
      await revocations.run(signal);
    },
    close: () => revocations.close(),
  };
}

const notYet = (): AppError =>
  new AppError('unavailable', 'those who revoke sessions do not know of this replica yet; try again', {
    reason: 'NotAdmitted',
  });

import { CaptureError } from '../../lib/capture/capture-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { isAbsent, isIdentityRefused, KubeError, lacksRights, type Pod } from '../../lib/kube/index.ts';
import { stepState } from '../../lib/pod-slot.ts';
import { stepPodLimits } from './limits.ts';

/** How long to keep trying to read the log of one pod. */
interface LogPatience {
  /** Milliseconds until the next reading, after one that failed; undefined: the output is lost. */
  delayMs(trouble: unknown, pod: Pod): number | undefined;
}

/**
 * A pod that is gone has no log, and a log that does not fit its hashes soon counts as cut. A kubelet that does not
 * answer says nothing of the log: it gets minutes. An API server that does not answer gets for ever.
 */
export function createLogPatience(clock: Pick<Clock, 'now'>): LogPatience {
  let unproven = 0;
  let refusals = 0;
  let awaySince: number | undefined;
  return {
    delayMs(trouble, pod) {
      if (isAbsent(trouble)) return undefined;
      if (trouble instanceof CaptureError) {
        return endsWithoutTrailer(pod) ? undefined : stepPodLimits.unprovenAfterMs[unproven++];
      }
      if (isUnanswered(trouble)) return stepPodLimits.unansweredAfterMs;
      awaySince ??= clock.now();
      if (clock.now() - awaySince >= stepPodLimits.kubeletAwayMs) return undefined;
      const delays = stepPodLimits.kubeletAwayAfterMs;
      return delays[Math.min(refusals++, delays.length - 1)];
    },
  };
}

/** The runner itself was killed before it could write one: reading again would bring the same. */
const endsWithoutTrailer = (pod: Pod): boolean => {
  const { reason, message = '' } = stepState(pod)?.terminated ?? {};
  return reason === 'OOMKilled' && message === '';
};

/** The API server is away or overloaded, or gives us no right at the moment: that says nothing of the log. A node that is away shows as another error. */
function isUnanswered(error: unknown): boolean {
  if (lacksRights(error) || isIdentityRefused(error)) return true;
  if (error instanceof KubeError) return error.status === 429 || error.status === 503;
  return error instanceof AppError && error.code === 'unavailable';
}

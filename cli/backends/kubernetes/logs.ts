import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { LogPlace } from '../../../lib/execution/log-source.ts';
import { readPod, readStored, singleSteps } from '../../../lib/execution/read-logs.ts';
import { attemptOf, stepOf, stepPods, whyNotStarted } from '../../../lib/execution/step-pods.ts';
import type { KubeClient, Pod } from '../../../lib/kube/index.ts';
import { isInvalid, isNotFound } from '../../../lib/kube/kube-error.ts';
import type { LiveLog, LogBackend } from '../backend.ts';
import { readAgain } from './follow.ts';
import type { KubernetesDeps } from './deps.ts';

/** How long to wait before looking again for what has begun or ended meanwhile. */
const lookAgainMs = 300;

/** Logs of pods, and of what the output store holds. */
export function createLogs(deps: KubernetesDeps): LogBackend {
  const { kube, outputs } = deps;
  return {
    changes: (execution, signal) => changes(deps, execution, signal),
    live: async (execution, place) => {
      const pods = await stepPods(kube, execution, place);
      return pods.map((pod) => liveLog(kube, pod, place));
    },
    singleSteps: (execution, log) => singleSteps({ outputs, execution }, log),
    readStored: (execution, log, sink) => readStored({ outputs, execution }, log, sink),
  };
}

/** That a pod has started is no change of the execution, so it is looked at in time. */
async function* changes(
  { kube, clock }: Pick<KubernetesDeps, 'kube' | 'clock'>,
  execution: WorkflowExecution,
  signal: AbortSignal,
): AsyncGenerator<WorkflowExecution, void> {
  for (let latest = execution; !signal.aborted; latest = (await readAgain({ kube }, latest, signal)) ?? latest) {
    yield latest;
    await clock.sleep(lookAgainMs, signal);
  }
}

function liveLog(kube: Pick<KubeClient, 'readLog'>, pod: Pod, place: LogPlace): LiveLog {
  return {
    place: { ...place, step: stepOf(pod) },
    attempt: attemptOf(pod),
    notStarted: whyNotStarted(pod),
    async read(options, sink) {
      try {
        await readPod(kube, pod, options, sink);
        return true;
      } catch (error) {
        if (isNotFound(error) || isInvalid(error)) return false;
        throw error;
      }
    },
  };
}

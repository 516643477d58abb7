import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { type LogPlace, type LogSource, placeText } from '../lib/execution/log-source.ts';
import type { OutputReader } from '../lib/execution/output-reader.ts';
import { type LogSink, readPod, readStored, singleSteps } from '../lib/execution/read-logs.ts';
import { stepOf, stepPods, whyNotStarted } from '../lib/execution/step-pods.ts';
import type { KubeClient } from '../lib/kube/index.ts';
import type { Session } from './session.ts';

export interface LogDeps extends Pick<Session, 'terminal' | 'clock' | 'interrupted'> {
  readonly kube: KubeClient;
  readonly outputs: OutputReader;
  readonly sink: LogSink;
}

/** What there is now of each log, one after another, each under a heading when there are several. */
export async function showLogs(
  deps: LogDeps,
  execution: WorkflowExecution,
  sources: readonly LogSource[],
): Promise<void> {
  const heading = (place: LogPlace, several: boolean): void => {
    if (several) deps.terminal.note(`==> ${placeText(place)} <==`);
  };
  for (const source of sources) {
    if (source.kind === 'pod') {
      await showPods(deps, execution, source);
      continue;
    }
    const reader = { outputs: deps.outputs, execution };
    const logs = await singleSteps(reader, source);
    for (const log of logs) {
      heading(log, sources.length > 1 || logs.length > 1);
      await readStored(reader, log, deps.sink);
    }
  }
}

/** The logs of the pods of a visit that have started, and why the others have not. */
async function showPods(deps: LogDeps, execution: WorkflowExecution, place: LogPlace): Promise<void> {
  const found = await stepPods(deps.kube, execution, place);
  if (found.length === 0) deps.terminal.note(`${placeText(place)} has no pod yet`);
  for (const pod of found) {
    const own = { ...place, step: stepOf(pod) };
    const why = whyNotStarted(pod);
    deps.terminal.note(why === undefined ? `==> ${placeText(own)} <==` : `${placeText(own)} has not started: ${why}`);
    if (why === undefined) await readPod(deps.kube, pod, { follow: false, signal: deps.interrupted }, deps.sink);
  }
}

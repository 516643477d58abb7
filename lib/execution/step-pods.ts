import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { KubeClient, Pod } from '../kube/index.ts';
import { pods } from '../kube/resource.ts';
import { slotOf, stepState } from '../pod-slot.ts';
import type { LogPlace } from './log-source.ts';

/** The pods of one visit, of each step the newest attempt, in the order of their steps. */
export async function stepPods(
  kube: Pick<KubeClient, 'listAll'>,
  { metadata }: Pick<WorkflowExecution, 'metadata'>,
  place: LogPlace,
): Promise<Pod[]> {
  const labelSelector = `${labels.executionUid}=${metadata.uid}`;
  const { items } = await kube.listAll(pods, { namespace: metadata.namespace, labelSelector });
  return newestAttempts(items.filter((pod) => belongs(pod, place)));
}

/** Why the command of a pod has not started, or undefined when it has. */
export function whyNotStarted(pod: Pod): string | undefined {
  const state = stepState(pod) ?? {};
  if (state.running || state.terminated) return undefined;
  const { reason, message } = state.waiting ?? { reason: pod.status?.phase };
  return [reason ?? 'Pending', message].filter(Boolean).join(': ');
}

/** The step of a parallel state that a pod runs. */
export function stepOf({ metadata }: Pod): string | undefined {
  return slotOf(metadata)?.step;
}

function belongs({ metadata }: Pod, { state, visit, step }: LogPlace): boolean {
  const slot = slotOf(metadata);
  if (slot?.state !== state || slot.visit !== visit) return false;
  return step === undefined || step === '*' || slot.step === step;
}

function newestAttempts(found: readonly Pod[]): Pod[] {
  const newest = new Map<string, Pod>();
  for (const pod of found.toSorted((a, b) => attemptOf(a) - attemptOf(b))) newest.set(stepOf(pod) ?? '', pod);
  return [...newest.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, pod]) => pod);
}

/** Which attempt of its visit a pod runs, from 1. */
export function attemptOf({ metadata }: Pod): number {
  return slotOf(metadata)?.attempt ?? 1;
}

import { limits } from '../../crds/limits.ts';
import { parseDuration } from '../../lib/duration.ts';
import { WaitError } from '../../lib/errors.ts';
import type { KubeError } from '../../lib/kube/index.ts';
import { ownMember } from '../../lib/own-member.ts';
import type { Blocked } from './blocked.ts';
import type { Facts, Failure } from './engine/facts.ts';

export interface UnstoredDeps {
  /** Executions whose outputs found no room in a quota. */
  readonly unstored: Blocked;
  /** Called for a pod whose output must not take memory while it waits for the quota. */
  readonly onUnstored: (podUid: string) => void;
}

/**
 * The failure of a state whose outputs found no room in a quota for its `queue_timeout`.
 * @throws WaitError until then; the outputs are read again from their logs with the next try.
 */
export function refusedByQuota(
  { unstored, onUnstored }: UnstoredDeps,
  facts: Facts,
  error: KubeError,
  now: number,
): Failure {
  const { execution, pods } = facts;
  const { uid = '', namespace = '' } = execution.metadata;
  const before = unstored.why(uid);
  const since = before?.since ?? now;
  const message = `outputs are not stored: ${error.serverMessage}`;
  if (now - since >= queueTimeoutMs(facts)) return { reason: 'QuotaExceeded', message };
  unstored.add(execution, { reason: 'QuotaExceeded', message, since });
  // The node collects the log of a pod that is going: that output is not to be had again.
  for (const pod of pods) if (!pod.deleting) onUnstored(pod.uid);
  throw new WaitError('QuotaExceeded', before === undefined ? 0 : unstored.retryMs(namespace));
}

function queueTimeoutMs({ workflow, execution: { status } }: Facts): number {
  const name = status?.current?.state ?? '';
  const state = workflow.kind === 'found' ? ownMember(workflow.definition.spec.states, name) : undefined;
  const own = state !== undefined && 'queue_timeout' in state ? state.queue_timeout : undefined;
  return parseDuration(own ?? limits.queueTimeoutDefault, { field: 'queue_timeout' });
}

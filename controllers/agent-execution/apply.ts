import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { agentExecutions } from '../../lib/kinds.ts';
import { type KubeClient, keyOf } from '../../lib/kube/index.ts';
import type { EventRecorder } from '../runtime/events.ts';
import { writeStatus } from '../runtime/write-status.ts';
import type { QuotaGate } from '../step-pods/quota-gate.ts';
import type { End } from './decide.ts';
import type { Move, PodAction } from './moves.ts';
import { type ReleaseDeps, releaseAgentPod } from './pod/release-agent-pod.ts';

export interface CarryOutDeps extends ReleaseDeps {
  readonly kube: Pick<KubeClient, 'delete' | 'jsonPatchStatus'>;
  readonly events: EventRecorder;
  readonly executions: Pick<CacheReader<AgentExecution>, 'remember'>;
  readonly quota: Pick<QuotaGate, 'leave'>;
  /** Hears why an execution has ended, once its status says so. */
  readonly onEnd: (reason: string) => void;
}

/** Carries a move out: its actions, one write of the status, and the news of an end. Gives the version that was written. */
export async function apply(
  deps: CarryOutDeps,
  { execution, status, actions = [], ...move }: Move,
): Promise<AgentExecution> {
  for (const action of actions) await act(deps, execution, action);
  if (move.kind === 'ends') deps.quota.leave(keyOf(execution));
  const written = await writeStatus(
    { kube: deps.kube, resource: agentExecutions, cache: deps.executions },
    execution,
    status,
  );
  if (move.kind === 'ends') {
    deps.onEnd(move.end.reason);
    recordEvent(deps, execution, move.end.phase === 'failed' ? 'Warning' : 'Normal', move.end);
  }
  return written;
}

async function act(deps: CarryOutDeps, execution: AgentExecution, action: PodAction): Promise<void> {
  switch (action.kind) {
    case 'release_pod':
      return releaseAgentPod(deps, execution);
    case 'record_loss': {
      const { reason, message } = action.why;
      return recordEvent(deps, execution, 'Warning', { reason, message: `${message}; a new pod takes its place` });
    }
  }
}

function recordEvent(
  { events }: CarryOutDeps,
  object: AgentExecution,
  type: 'Normal' | 'Warning',
  { reason, message }: Pick<End, 'reason' | 'message'>,
): void {
  events.record({ resource: agentExecutions, object, type, reason, action: 'Reconcile', note: message });
}

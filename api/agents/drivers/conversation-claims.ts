import { annotations } from '../../../crds/labels.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { findObject, isAbsent, isConflict, type KubeClient } from '../../../lib/kube/index.ts';
import { firstAnswer } from '../../../lib/retry.ts';

/** Which installation drives an execution: its conversation is in the event bus of one alone (ADR 0087). */
export interface ConversationClaims {
  /**
   * Claims an unclaimed execution. False where another installation has it, or is to be given time to claim
   * it because this process does not know the model.
   * @throws AppError `unavailable` where the bus or Kubernetes is away.
   */
  mayDrive(execution: AgentExecution, model: string): Promise<boolean>;
}

interface ClaimsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>;
  readonly bus: Pick<EventBus, 'identity'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly isKnown: (model: string) => boolean;
}

/** How long a process that does not know the model leaves the execution to others, from its start. */
const patienceMs = 30_000;
/** Writes of others that come between a read and the claim. */
const attempts = 5;

export function createClaims(deps: ClaimsDeps): ConversationClaims {
  return {
    async mayDrive(execution, model) {
      const own = await deps.bus.identity();
      const claimed = claimOf(execution);
      if (claimed !== undefined) return claimed === own;
      if (!deps.isKnown(model) && deps.clock.now() < startOf(execution) + patienceMs) return false;
      return claim(deps, execution, own);
    },
  };
}

const claimOf = ({ metadata }: AgentExecution): string | undefined => metadata.annotations?.[annotations.drivenBy];

const startOf = ({ status }: AgentExecution): number => Date.parse(status?.started_at ?? '') || 0;

/** Written against the unclaimed version, so exactly one of several installations has it. */
async function claim({ kube }: Pick<ClaimsDeps, 'kube'>, execution: AgentExecution, own: string): Promise<boolean> {
  const { name, namespace = '', uid } = execution.metadata;
  let latest: AgentExecution | undefined = execution;
  const isOurs = await firstAnswer(attempts, async () => {
    if (latest === undefined || latest.metadata.uid !== uid) return false;
    const claimed = claimOf(latest);
    if (claimed !== undefined) return claimed === own;
    const { resourceVersion } = latest.metadata;
    const metadata = { resourceVersion, annotations: { [annotations.drivenBy]: own } };
    try {
      await kube.mergePatch(agentExecutions, { name, namespace }, { metadata });
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      if (!isConflict(error)) throw error;
    }
    latest = await findObject(kube, agentExecutions, { name, namespace });
    return undefined;
  });
  return isOurs ?? false;
}

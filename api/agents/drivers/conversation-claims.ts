import { annotations } from '../../../crds/labels.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type ConversationPlace, conversationPlaceOf, placeText } from '../../../lib/conversation/place.ts';
import { conversationLogs } from '../../../lib/conversation/record.ts';
import { AppError } from '../../../lib/errors.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { findObject, isAbsent, isConflict, type KubeClient } from '../../../lib/kube/index.ts';
import { firstAnswer } from '../../../lib/retry.ts';
import { requireTenant } from '../../../lib/tenant/require-tenant.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';

/** Which installation drives an execution, and where: its conversation is in one log of one event bus alone (ADR 0087, 0148). */
export interface ConversationClaims {
  /**
   * Claims an unclaimed execution, and says where its conversation is. Undefined where another installation has it, or is to be
   * given time to claim it because this process does not know the model.
   * @throws AppError `unavailable` where the bus or Kubernetes is away; `NotATenant` where the namespace is not the tenant's
   * whose log has the conversation: it continues once it is again.
   */
  claim(execution: AgentExecution, model: string): Promise<ConversationPlace | undefined>;
}

interface ClaimsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>;
  readonly bus: Pick<EventBus, 'identity' | 'logs'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly isKnown: (model: string) => boolean;
}

/** How long a process that does not know the model leaves the execution to others, from its start. */
const patienceMs = 30_000;
/** Writes of others that come between a read and the claim. */
const attempts = 5;
/** Another installation has it, or it is gone. */
const noPlace = 'none';

export function createClaims(deps: ClaimsDeps): ConversationClaims {
  const { bus, tenants } = deps;
  const logs = bus.logs(conversationLogs);
  return {
    async claim(execution, model) {
      const own = await bus.identity();
      const claimed = claimOf(execution);
      if (claimed !== undefined && claimed !== own) return undefined;
      const tenant = requireTenant(tenants, execution.metadata.namespace ?? '');
      if (claimed !== undefined) return placeIn(tenant, execution);
      if (!deps.isKnown(model) && deps.clock.now() < startOf(execution) + patienceMs) return undefined;
      // Read before the claim, behind which alone anything of the conversation is written.
      const { last } = await logs.bounds(tenant);
      return claimAs(deps, execution, { own, place: { tenant, behind: last } });
    },
  };
}

const claimOf = ({ metadata }: AgentExecution): string | undefined => metadata.annotations?.[annotations.drivenBy];

const startOf = ({ status }: AgentExecution): number => Date.parse(status?.started_at ?? '') || 0;

/**
 * The place of a claimed one. One that was claimed without it is whole only in a log that is.
 * @throws AppError `NotATenant` where the namespace is by now that of another tenant.
 */
function placeIn(tenant: string, execution: AgentExecution): ConversationPlace {
  const place = conversationPlaceOf(execution) ?? { tenant, behind: 0 };
  if (place.tenant === tenant) return place;
  const { namespace = '' } = execution.metadata;
  const message = `the namespace ${namespace} is that of ${tenant}, and the conversation that of ${place.tenant}`;
  throw new AppError('forbidden', message, { reason: 'NotATenant' });
}

interface Claim {
  readonly own: string;
  readonly place: ConversationPlace;
}

/** Written against the unclaimed version, so exactly one of several installations has it. */
async function claimAs(
  { kube }: Pick<ClaimsDeps, 'kube'>,
  execution: AgentExecution,
  { own, place }: Claim,
): Promise<ConversationPlace | undefined> {
  const { name, namespace = '', uid } = execution.metadata;
  let latest: AgentExecution | undefined = execution;
  const claimed = await firstAnswer(attempts, async () => {
    if (latest === undefined || latest.metadata.uid !== uid) return noPlace;
    const by = claimOf(latest);
    if (by !== undefined) return by === own ? placeIn(place.tenant, latest) : noPlace;
    const { resourceVersion } = latest.metadata;
    const notes = { [annotations.drivenBy]: own, [annotations.conversation]: placeText(place) };
    try {
      await kube.mergePatch(
        agentExecutions,
        { name, namespace },
        { metadata: { resourceVersion, annotations: notes } },
      );
      return place;
    } catch (error) {
      if (isAbsent(error)) return noPlace;
      if (!isConflict(error)) throw error;
    }
    latest = await findObject(kube, agentExecutions, { name, namespace });
    return undefined;
  });
  return claimed === noPlace ? undefined : claimed;
}

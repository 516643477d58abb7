import type { AgentSpec } from '../../../crds/schema/agent.ts';
import type { SecurityContextSpec } from '../../../crds/schema/security-context.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { CallCounter } from '../../../lib/envelope/index.ts';
import type { NewId } from '../../../lib/ids.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import type { Informer } from '../../../lib/informer/index.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { Models } from '../../../lib/models/models.ts';
import type { Toolbox } from '../../../lib/tools/tool.ts';
import type { LeavingTimes } from '../../leaving-times.ts';
import type { Approvals } from '../verdicts/approvals.ts';
import type { BeginDeps } from '../calls/begin-permit.ts';
import type { ConversationClaims } from './conversation-claims.ts';
import type { JudgeAgents } from '../verdicts/judge-agents.ts';
import type { RegisteredToolSource } from '../registered/index.ts';

/** Everything that the drivers of conversations work with. */
export interface DriversDeps extends BeginDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch' | 'mergePatch'>;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  /** From 0 to 1, for the jitter of pauses. */
  readonly random: () => number;
  readonly models: Models;
  readonly toolbox: Toolbox;
  readonly registered: RegisteredToolSource;
  readonly calls: CallCounter;
  readonly claims: ConversationClaims;
  readonly approvals: Approvals;
  readonly judges: JudgeAgents;
  readonly executions: Pick<Informer<AgentExecution, 'namespace'>, 'whole' | 'onChange'> & {
    readonly cache: Pick<CacheReader<AgentExecution>, 'getByUid' | 'remember' | 'values'>;
  };
  /** Bytes of heap for the conversations that this replica drives. Default: `roomLimits.poolBytes`. */
  readonly poolBytes?: number;
  /** How long this replica works on once it is to end. */
  readonly leaving: LeavingTimes;
  /** The definition that an execution was fixed to, and the SecurityContext that bounds it; `anew`: as they are now. */
  readonly definitionOf: (
    execution: AgentExecution,
    anew?: 'anew',
  ) => Promise<{
    readonly spec: AgentSpec;
    readonly security: SecurityContextSpec;
  }>;
}

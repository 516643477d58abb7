import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { Clock } from '../../lib/clock.ts';
import { logTenantOf } from '../../lib/conversation/place.ts';
import type { SealSessions } from '../../lib/envelope/index.ts';
import { messageOf } from '../../lib/errors.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { Informer } from '../../lib/informer/index.ts';
import type { Logger } from '../../lib/logger.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { toolSessionId } from './registered/tool-sessions.ts';

interface EndSessionsDeps {
  readonly executions: Pick<Informer<AgentExecution, never>, 'onChange'>;
  readonly sessions: Pick<SealSessions, 'revoke'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'debug'>;
}

export interface EndSessions {
  /** Revokes until `stop` aborts. Never rejects. */
  run(stop: AbortSignal): Promise<void>;
}

/** How long revocations wait for the bus after one has failed. */
const retryMs = 2_000;
/** A change wakes the loop before. */
const idleMs = 60_000;
/** Executions whose sessions are still to be revoked while the bus is away; the oldest give way, and expire by themselves. */
const waitingMax = 10_000;

/** An outcome, a cancellation or a deletion: none of them is ever taken back. */
const isOver = (execution: AgentExecution): boolean =>
  execution.spec.result !== undefined ||
  execution.spec.cancel !== undefined ||
  execution.metadata.deletionTimestamp !== undefined ||
  finished(execution);

/**
 * A session ends with its execution: that of its pod, and that by which replicas call registered tools for it. Each replica
 * does the same, since a repeated revocation changes nothing. Call before the informer runs.
 */
export function createEndSessions(deps: EndSessionsDeps): EndSessions {
  const { executions, tenants, clock } = deps;
  /** Tenants by the id of the execution; undefined while its namespace is that of none. */
  const waiting = new Map<string, () => string | undefined>();
  let wake = (): void => undefined;
  const note = (execution: AgentExecution | undefined): void => {
    const { uid, namespace = '' } = execution?.metadata ?? {};
    if (execution === undefined || uid === undefined) return;
    // Now, since a tenant's namespace may go with its executions; or later, where namespaces are not known yet. Everything known
    // before counts: the namespace may go before the execution.
    const tenant = logTenantOf(execution, tenants) ?? waiting.get(uid)?.();
    waiting.set(uid, () => tenant ?? tenants.tenantOf(namespace));
    const [oldest] = waiting.keys();
    if (waiting.size > waitingMax && oldest !== undefined) waiting.delete(oldest);
    wake();
  };
  executions.onChange(({ before, after, own }) => {
    // A version that this process remembered is held before its event comes.
    const isKnown = !own && before !== undefined && isOver(before);
    if (after === undefined || (isOver(after) && !isKnown)) note(after ?? before);
  });
  return {
    async run(stop) {
      while (!stop.aborted) {
        const woken = new AbortController();
        wake = () => woken.abort();
        for (const [uid, tenantOf] of waiting) {
          if (stop.aborted) return;
          const tenant = tenantOf();
          if (tenant === undefined) continue;
          if (await revoke(deps, uid, tenant)) waiting.delete(uid);
          else break;
        }
        await clock.sleep(waiting.size > 0 ? retryMs : idleMs, AbortSignal.any([stop, woken.signal]));
      }
    },
  };
}

/** False where the bus is away. */
async function revoke({ sessions, logger }: EndSessionsDeps, uid: string, tenant: string): Promise<boolean> {
  try {
    await Promise.all([uid, toolSessionId(uid)].map((execution_id) => sessions.revoke({ tenant, execution_id })));
    return true;
  } catch (error) {
    logger.debug({ execution_id: uid, problem: messageOf(error) }, 'sessions not revoked');
    return false;
  }
}

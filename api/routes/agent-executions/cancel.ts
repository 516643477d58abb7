import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Cancel } from '../../../crds/schema/workflow-execution.ts';
import { isHeldByOthers } from '../../../lib/being-deleted.ts';
import type { AuditTrail } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defineRoute, HttpError, json, type Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { findObject, isAbsent, isConflict, type KubeClient, whileRaced } from '../../../lib/kube/index.ts';
import type { Cluster, TenantObjects } from '../../cluster/index.ts';
import { notFound, unknownExecution } from '../not-found.ts';
import { cancelAgentExecution, deleteAgentExecution } from './contract.ts';
import { endPhaseOf } from './stream-events.ts';

interface CancelDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch' | 'delete'>;
  readonly clock: Clock;
  readonly cluster: Pick<Cluster, 'agentExecutions'>;
  readonly audit: AuditTrail;
}

export function createCancelRoute(deps: CancelDeps): Route<Caller> {
  const { clock, cluster, audit } = deps;
  return defineRoute<typeof cancelAgentExecution, Caller>(cancelAgentExecution, async ({ params, body, caller }) => {
    const known = await locateExecution(cluster.agentExecutions, caller, params.execution_id);
    const wanted = { ...body, by: caller.subject, at: new Date(clock.now()).toISOString(), via: 'api' };
    const execution = await cancel(deps, known, wanted);
    const { by, at, via } = execution.spec.cancel ?? {};
    const subject = execution.metadata.uid ?? '';
    const doneAt = at === wanted.at ? undefined : at;
    if (by === wanted.by && via === wanted.via)
      audit.record({ type: 'AgentExecutionCancelled', by: caller, subject, act: 'cancel', doneAt });
    return json({ status: endPhaseOf(execution) === 'cancelled' ? 'cancelled' : 'cancelling', by, at });
  });
}

/** The first caller counts: the field is written once. @throws HttpError 404, 409 */
async function cancel(
  { kube, clock }: Pick<CancelDeps, 'kube' | 'clock'>,
  { metadata: { name, namespace = '', uid } }: AgentExecution,
  wanted: Cancel,
): Promise<AgentExecution> {
  return whileRaced(clock, async () => {
    const latest = await findObject(kube, agentExecutions, { namespace, name });
    if (latest === undefined || latest.metadata.uid !== uid) throw notFound(unknownExecution);
    if (isCancelled(latest)) return latest;
    const write = kube.jsonPatch(agentExecutions, { namespace, name }, [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'test', path: '/metadata/resourceVersion', value: latest.metadata.resourceVersion },
      { op: 'add', path: '/spec/cancel', value: wanted },
    ]);
    return write.catch((error: unknown) => {
      throw isAbsent(error) ? notFound(unknownExecution, { cause: error }) : error;
    });
  });
}

/** Whether it was cancelled, or is about to be. @throws HttpError 409 when it cannot be any more */
function isCancelled(execution: AgentExecution): boolean {
  const { metadata, spec } = execution;
  const phase = endPhaseOf(execution) ?? spec.result?.phase;
  if (phase === undefined || phase === 'cancelled') return phase !== undefined || spec.cancel !== undefined;
  throw new HttpError({ code: 'conflict', message: `${metadata.name} cannot be cancelled: it has ${phase}` });
}

export function createDeleteRoute({ kube, cluster, audit }: CancelDeps): Route<Caller> {
  return defineRoute<typeof deleteAgentExecution, Caller>(deleteAgentExecution, async ({ params, caller }) => {
    const { metadata } = await locateExecution(cluster.agentExecutions, caller, params.execution_id);
    const { name, namespace = '', uid = '' } = metadata;
    const status = isHeldByOthers({ metadata }) ? 'deleting' : 'deleted';
    try {
      await kube.delete(agentExecutions, { name, namespace }, { uid, propagation: 'Background' });
    } catch (error) {
      // Another one has its name by now.
      if (isConflict(error)) throw notFound(unknownExecution, { cause: error });
      throw error;
    }
    audit.record({ type: 'AgentExecutionDeleted', by: caller, subject: uid, act: 'delete', data: { execution: name } });
    return json({ status });
  });
}

/** The execution of the caller's tenant without its texts. Throws 404. */
async function locateExecution(
  executions: Pick<TenantObjects<AgentExecution>, 'locate'>,
  { tenant }: Pick<Caller, 'tenant'>,
  id: string,
): Promise<AgentExecution> {
  const found = await executions.locate(tenant, id);
  if (found === undefined) throw notFound(unknownExecution);
  return found;
}

import { annotations, apiVersion, labels } from '../../../crds/labels.ts';
import { readyOf } from '../../../crds/ready.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { isUid } from '../../../crds/uid.ts';
import type { AuditTrail } from '../../../lib/bus/index.ts';
import type { Budget } from '../../../lib/conversation/budget.ts';
import { defined } from '../../../lib/defined.ts';
import { canonicalHash } from '../../../lib/definition/canonical.ts';
import { notYetMessage } from '../../../lib/caller-error.ts';
import { AppError } from '../../../lib/errors.ts';
import type { RequestBodyOf } from '../../../lib/http/contract.ts';
import { defineRoute, HttpError, json, type Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { type NewId, shortHash } from '../../../lib/ids.ts';
import { agentExecutions, agents } from '../../../lib/kinds.ts';
import { findAgain, findObject, KubeError, type KubeClient } from '../../../lib/kube/index.ts';
import { labelValue } from '../../../lib/pod-slot.ts';
import type { Cluster } from '../../cluster/index.ts';
import { assertSameRequest } from '../executions/start/create-execution.ts';
import { refuseBeingDeleted } from '../being-deleted.ts';
import { notFound, unknownAgent, unknownTenant } from '../not-found.ts';
import { findVersion } from '../workflows/find-version.ts';
import { invalidAgentId, startAgentExecution } from './contract.ts';

export interface StartAgentDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'list'>;
  readonly cluster: Pick<Cluster, 'tenants' | 'agents' | 'agentExecutions' | 'lineages'>;
  readonly newId: NewId;
  readonly audit: AuditTrail;
}

type Body = RequestBodyOf<typeof startAgentExecution>;

/** Answers as soon as the object exists (requirements EXEC-01 to EXEC-05). */
export function createStartRoute(deps: StartAgentDeps): Route<Caller> {
  return defineRoute<typeof startAgentExecution, Caller>(startAgentExecution, async ({ body, headers, caller }) => {
    const id = body.agent_id.toLowerCase();
    if (!isUid(id)) throw new HttpError({ code: 'invalid', status: 400, error: invalidAgentId });
    const namespace = deps.cluster.tenants.namespaceOf(caller.tenant);
    if (namespace === undefined) throw notFound(unknownTenant);
    const key = headers['idempotency-key'];
    const known = key === undefined ? undefined : onceUnder(caller, key, body);
    const marks = deps.cluster.lineages.marksFor(caller);
    const agent = await deps.cluster.agents.locate(caller.tenant, id);
    const execution = await start(deps, { agent, body, caller, namespace, known, marks });
    deps.cluster.agentExecutions.remember(execution);
    const { name, uid } = execution.metadata;
    const data = { agent: agent?.metadata.name ?? name, agent_id: id };
    const doneAt = known === undefined ? undefined : execution.metadata.creationTimestamp;
    deps.audit.record({ type: 'AgentExecutionStarted', by: caller, subject: uid ?? '', act: 'start', doneAt, data });
    return json({ execution_id: uid });
  });
}

/** A start that may be repeated: its name follows from what starts it. */
interface Once {
  readonly name: string;
  /** Hash of the request. */
  readonly request: string;
}

const onceUnder = ({ subject }: Caller, key: string, body: Body): Once => ({
  name: `start-${shortHash(JSON.stringify([subject, key]), 32)}`,
  request: canonicalHash(body),
});

/** A start, after its checks. */
interface StartAsk {
  readonly agent: Agent | undefined;
  readonly body: Body;
  readonly caller: Pick<Caller, 'subject'>;
  readonly namespace: string;
  readonly known: Once | undefined;
  /** Annotations that say which agent is behind it. */
  readonly marks: Readonly<Record<string, string>>;
  /** The execution that it works for; the garbage collector deletes it with that one. */
  readonly serves?: AgentExecution;
  /** Bounds beside those of its agent. */
  readonly budget?: Budget;
}

const suffixLength = 10;

/** Makes the execution. A repetition is answered alike also when the agent is gone meanwhile. @throws HttpError */
export async function start(deps: Pick<StartAgentDeps, 'kube' | 'newId'>, ask: StartAsk): Promise<AgentExecution> {
  const { agent, namespace, caller, known } = ask;
  try {
    if (agent === undefined) throw notFound(unknownAgent);
    refuseBeingDeleted(`agent ${agent.metadata.name}`, agent);
    await assertVersion(deps, agent, ask.body.version);
    assertReady(agent, ask.body.version);
    const name = known?.name ?? `${labelValue(agent.metadata.name)}-${deps.newId().slice(0, suffixLength)}`;
    return await deps.kube.create(agentExecutions, executionOf(agent, ask, name));
  } catch (error) {
    const existing = known && (await findObject(deps.kube, agentExecutions, { namespace, name: known.name }));
    if (known === undefined || existing === undefined) throw asFailure(error);
    assertSameRequest(existing, known.request, caller);
    return existing;
  }
}

/** A version that another replica registered a moment ago starts. @throws HttpError 404 that lists the versions there are. */
async function assertVersion(
  { kube }: Pick<StartAgentDeps, 'kube'>,
  agent: Agent,
  version: string | undefined,
): Promise<void> {
  if (version === undefined || version === agent.spec.version || isStored(agent, version)) return;
  await findVersion(kube, (await findAgain(kube, agents, agent)) ?? agent, version);
}

const isStored = ({ status }: Agent, version: string | undefined): boolean =>
  status?.versions?.some((row) => row.version === version) ?? false;

/** One that has not been judged yet may start: its execution waits for the verdict. */
function assertReady(agent: Agent, version: string | undefined): void {
  const ready = readyOf(agent);
  if (isStored(agent, version) || ready?.status !== 'False') return;
  throw failed(`agent ${agent.metadata.name} cannot run: ${ready.reason}: ${ready.message}`);
}

function executionOf(agent: Agent, ask: StartAsk, name: string): AgentExecution {
  const { body, caller, namespace, known, marks, serves, budget } = ask;
  const { uid = '', name: agentName } = agent.metadata;
  const { version, input, intent } = body;
  return {
    apiVersion,
    kind: 'AgentExecution',
    metadata: {
      name,
      namespace,
      labels: { [labels.agent]: agentName, [labels.agentUid]: uid, ...(serves && servedLabel(serves)) },
      ...(serves && { ownerReferences: [ownerOf(serves)] }),
      annotations: {
        ...marks,
        [annotations.startedBy]: caller.subject,
        ...(known === undefined ? {} : { [annotations.request]: known.request }),
      },
    },
    spec: { agent: uid, input, ...defined({ version, intent }), ...boundsOf(budget) },
  };
}

const boundsOf = ({ tokens, costUsd }: Budget = {}) => defined({ max_tokens: tokens, max_cost_usd: costUsd });

const servedLabel = ({ metadata: { uid = '' } }: AgentExecution) => ({ [labels.parentUid]: uid });

const ownerOf = ({ metadata: { name, uid = '' } }: AgentExecution) => ({
  apiVersion,
  kind: 'AgentExecution',
  name,
  uid,
  controller: true,
});

/** spec 1 §7.1: an execution that failed to start is answered 500 with the sentence why. */
const failed = (message: string, cause?: unknown): HttpError =>
  new HttpError({ code: 'internal', status: 500, error: message, cause });

/** The server's own sentence where it refused the object, such as for a quota; other failures are not explained. */
function asFailure(error: unknown): unknown {
  if (error instanceof HttpError) return error;
  const message = notYetMessage(error);
  if (message !== undefined) return new HttpError({ code: 'unavailable', message, cause: error });
  if (error instanceof KubeError && error.status < 500) {
    return failed(`the execution failed to start: ${error.serverMessage}`, error);
  }
  if (error instanceof AppError && error.code === 'unavailable') return error;
  return failed('the execution failed to start; try again', error);
}

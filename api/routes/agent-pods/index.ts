import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { logTenantOf } from '../../../lib/conversation/place.ts';
import { startDeadline } from '../../../lib/deadline.ts';
import { AppError } from '../../../lib/errors.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { defineRoute, json, type Reply, type Route, type RouteRequest } from '../../../lib/http/route.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import type { Pod } from '../../../lib/kube/index.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import type { ConversationFeed } from '../../agents/conversation/feed.ts';
import type { OpenConversation } from '../../agents/drivers/driven.ts';
import type { Drivers } from '../../agents/drivers/drivers.ts';
import { needsDriving } from '../../agents/drivers/needs-driving.ts';
import type { Attestations } from '../../agents/pods/attestations.ts';
import { checkReported, type Offered, type Reported, reportedOf } from '../../agents/pods/pod-channel.ts';
import type { PodIdentity } from '../../agents/pods/pod-identity.ts';
import { createPodSenders, type PodSenders } from '../../agents/pods/pod-senders.ts';
import type { PodSaying } from '../../agents/pods/pod-sayings.ts';
import { attestPod, dispatchGateway } from './contract.ts';
import { createFinalAnswers, type FinalAnswers } from './final-answer.ts';
import { preferredWaitMs } from './preferred-wait.ts';
import { executionIdOf, type Generate, readShape, type ToolResultShape, textsOf } from './shapes.ts';
import { WaitingRequests } from './waiting-requests.ts';

interface AgentPodDeps {
  readonly clock: Clock;
  readonly executions: { readonly cache: Pick<CacheReader<AgentExecution, 'pod'>, 'getByUid' | 'byIndex'> };
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  readonly identity: PodIdentity;
  readonly attestations: Attestations;
  readonly drivers: Drivers;
  readonly feed: ConversationFeed;
  readonly securityOf: (
    execution: AgentExecution,
  ) => Promise<{ readonly name: string; readonly tools: readonly string[]; readonly waiting: readonly string[] }>;
  readonly modelOf: (execution: AgentExecution) => Promise<string>;
}

/** Operations for the pods of agents on the internal listener (spec 1 §4.4 and §4.5). */
export function createAgentPodRoutes<Caller>(deps: AgentPodDeps): Route<Caller>[] {
  const senders = createPodSenders(deps);
  const parts = { ...deps, senders, waiting: new WaitingRequests(), finals: createFinalAnswers(deps) };
  return [
    defineRoute<typeof attestPod, Caller>(attestPod, async (request) => json(await attest(parts, request))),
    {
      ...defineRoute<typeof dispatchGateway, Caller>(dispatchGateway, async (request) => exchange(parts, request)),
      tenantOf: (head) => senders.tenantOf(senderOf(head)),
    },
  ];
}

interface SenderDeps extends AgentPodDeps {
  readonly senders: PodSenders;
}

interface ExchangeDeps extends SenderDeps {
  readonly waiting: WaitingRequests;
  readonly finals: FinalAnswers;
}

type Headers = Pick<RouteRequest<typeof dispatchGateway, unknown>, 'rawHeaders' | 'remoteAddress'>;

const senderOf = ({ rawHeaders, remoteAddress }: Headers) => ({
  authorization: rawHeaders.find(([name]) => name === 'authorization')?.[1],
  remoteAddress,
});

async function requirePod(deps: SenderDeps, execution: AgentExecution, request: Headers): Promise<Pod> {
  const sender = senderOf(request);
  const pod = await deps.identity.require(execution, sender);
  deps.senders.proved(execution, sender);
  return pod;
}

async function attest(deps: SenderDeps, request: RouteRequest<typeof attestPod, unknown>) {
  const { execution_id, agent_public_key: publicKey } = request.body;
  const execution = find(deps, execution_id);
  const pod = await requirePod(deps, execution, request);
  checkClaims(execution, pod, request.body);
  if (!needsDriving(execution)) throw over();
  const { name, tools, waiting } = await deps.securityOf(execution);
  return deps.attestations.attest({
    tenant: tenantOf(deps, execution),
    executionId: execution_id,
    agentId: request.body.agent_id,
    podUid: pod.metadata.uid ?? '',
    publicKey,
    securityContext: name,
    allowedToolPatterns: tools,
    waitingToolPatterns: waiting,
    expiresAt: execution.status?.deadline ?? new Date(deps.clock.now() + sessionMs).toISOString(),
  });
}

/**
 * That of the claim. A namespace without its label may have it back, and the conversation waits for that: so does its pod, which takes
 * a refusal for its own after a while.
 */
function tenantOf({ tenants }: AgentPodDeps, execution: AgentExecution): string {
  const tenant = logTenantOf(execution, tenants);
  if (tenant !== undefined) return tenant;
  const message = `the namespace ${execution.metadata.namespace} is no tenant at the moment; ask again`;
  throw new AppError('unavailable', message, { reason: 'NotATenant' });
}

type Claims = Pick<RouteRequest<typeof attestPod, unknown>['body'], 'agent_id' | 'container_id'>;

function checkClaims({ status }: AgentExecution, pod: Pod, { agent_id, container_id }: Claims): void {
  if (status?.agent?.uid !== agent_id) throw new AppError('forbidden', 'agent_id is not the agent of this execution');
  if (!isContainerOf(pod, container_id)) {
    throw new AppError('forbidden', 'container_id names no container of this pod');
  }
}

const sessionMs = 3_600_000;

/** Runtimes write `containerd://ID`. */
function isContainerOf({ metadata, status }: Pod, given: string): boolean {
  if (given === metadata.uid || given === metadata.name) return true;
  return (status?.containerStatuses ?? []).some(({ containerID = '' }) => {
    return containerID !== '' && (containerID === given || containerID.endsWith(`://${given}`));
  });
}

function find({ executions }: AgentPodDeps, executionId: string): AgentExecution {
  const execution = executions.cache.getByUid(executionId);
  if (execution === undefined) throw new AppError('not_found', 'there is no such execution');
  return execution;
}

const over = (): HttpError =>
  new HttpError({ code: 'gone', message: 'the execution is over: it was cancelled, or ended without an outcome' });

const notAttested = (): HttpError =>
  new HttpError({
    code: 'forbidden',
    message: 'the pod has not attested, or its session is revoked: call /v1/seal/attest',
  });

type DispatchRequest = RouteRequest<typeof dispatchGateway, unknown>;

async function exchange(deps: ExchangeDeps, request: DispatchRequest): Promise<Reply> {
  // The shape has no name here: its texts are let go while the request waits.
  const exchanged = await admitted(deps, request);
  using _place = deps.waiting.enter(exchanged.executionId);
  const waitMs = preferredWaitMs(request);
  if (waitMs === undefined) return await converse(deps, exchanged, request.signal);
  using deadline = startDeadline(deps.clock, waitMs, request.signal);
  return await converse(deps, exchanged, deadline.signal);
}

/** Only the attested pod of the execution has its body looked at any further, and counted to its tenant. */
async function admitted(deps: SenderDeps, request: DispatchRequest): Promise<Exchange> {
  const executionId = executionIdOf(request.body);
  const execution = find(deps, executionId);
  const pod = await requirePod(deps, execution, request);
  const podUid = pod.metadata.uid ?? '';
  const session = { tenant: tenantOf(deps, execution), execution_id: executionId };
  const attested = await deps.attestations.sessionOf(session, podUid);
  // A session is revoked with the outcome. The pod may not have heard that yet, and gets no command any more.
  if (attested === undefined || (attested.isRevoked && needsDriving(execution))) {
    throw notAttested();
  }
  request.ofTenant(session.tenant);
  const shape = readShape(request.body);
  const exchanged = { executionId, execution, podUid, request };
  if (shape.type === 'dispatch_result') return { ...exchanged, unheard: undefined, unreported: shape };
  await checkGenerate(deps, execution, shape);
  const unheard = { iteration: shape.iteration_number, texts: textsOf(shape) };
  return { ...exchanged, unheard, unreported: undefined };
}

async function checkGenerate(deps: AgentPodDeps, execution: AgentExecution, shape: Generate): Promise<void> {
  if (execution.status?.agent?.uid !== shape.agent_id) {
    throw new AppError('forbidden', 'agent_id is not the agent of this execution');
  }
  if (shape.model_alias !== (await deps.modelOf(execution))) {
    throw new AppError('forbidden', 'model_alias is not the one of the manifest', { reason: 'ForeignModel' });
  }
}

interface Exchange {
  readonly executionId: string;
  readonly execution: AgentExecution;
  readonly podUid: string;
  /** Words of the pod that are not written down yet. */
  unheard: PodSaying | undefined;
  /** A result that is not taken yet. */
  unreported: ToolResultShape | undefined;
  readonly request: Pick<DispatchRequest, 'dropBody' | 'reserve' | 'signal'>;
}

async function converse(deps: ExchangeDeps, exchanged: Exchange, signal: AbortSignal): Promise<Reply> {
  while (!signal.aborted) {
    const current = deps.executions.cache.getByUid(exchanged.executionId);
    if (current === undefined || !needsDriving(current)) return finished(deps, exchanged);
    const offered = await offeredBy(deps, exchanged, { current, signal });
    // The conversation that has ended is out of sight here: its texts are read from the log, within their bounds.
    if (offered === 'over') return finished(deps, exchanged);
    if (offered !== undefined) return offered;
  }
  return { kind: 'no_content' };
}

interface Asked {
  readonly current: AgentExecution;
  readonly signal: AbortSignal;
}

/** The next command; undefined where the conversation is to be looked for again. */
async function offeredBy(deps: ExchangeDeps, exchanged: Exchange, asked: Asked): Promise<Reply | 'over' | undefined> {
  const { current, signal } = asked;
  const conversation = await deps.drivers.open(current, signal);
  if (conversation === undefined) return undefined;
  await hand(exchanged, conversation, signal);
  const offered = await conversation.channel.ask(exchanged.podUid, signal);
  if (offered !== undefined) return commandOf(offered);
  return conversation.state.result === undefined ? undefined : 'over';
}

/** Gives the driver what the pod has sent, and lets it go: the wait for a command may be long. */
async function hand(exchanged: Exchange, conversation: OpenConversation, signal: AbortSignal): Promise<void> {
  const { unheard, unreported } = exchanged;
  if (unheard !== undefined) await conversation.hear(unheard, signal);
  if (unreported !== undefined) await conversation.channel.report(unreported.dispatch_id, unreported, signal);
  exchanged.unheard = undefined;
  exchanged.unreported = undefined;
  exchanged.request.dropBody();
}

const commandOf = ({ dispatch_id, plan }: Offered): Reply =>
  json({ type: 'dispatch', dispatch_id, action: 'exec', ...plan });

/** The outcome is in the log, whichever replica wrote it. */
async function finished(deps: ExchangeDeps, exchanged: Exchange): Promise<Reply> {
  const { executionId, execution, request } = exchanged;
  const tenant = logTenantOf(execution, deps.tenants);
  if (tenant === undefined) throw over();
  const reported = letGo(exchanged);
  return deps.finals.answer({
    tenant,
    executionId,
    request,
    check(state) {
      if (reported !== undefined) checkReported(state, reported);
      if (state.result === undefined) throw over();
    },
  });
}

/** The texts of the pod are in memory no more, of a result its hash alone. */
function letGo(exchanged: Exchange): Reported | undefined {
  const reported = exchanged.unreported && reportedOf(exchanged.unreported);
  exchanged.unheard = undefined;
  exchanged.unreported = undefined;
  exchanged.request.dropBody();
  return reported;
}

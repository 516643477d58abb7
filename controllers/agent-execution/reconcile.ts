import { labels } from '../../crds/labels.ts';
import type { Agent, AgentSpec } from '../../crds/schema/agent.ts';
import type { AgentExecution, AgentExecutionStatus } from '../../crds/schema/agent-execution.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { KnownAgents } from '../../lib/agent/find-agent.ts';
import { mountsOf } from '../../lib/agent/mounts.ts';
import { needsPod } from '../../lib/agent/needs-pod.ts';
import { pinnedAgent } from '../../lib/agent/pinned-agent.ts';
import { withMounts } from '../../lib/agent/slim-agent-execution.ts';
import { parseDuration } from '../../lib/duration.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { agentExecutions } from '../../lib/kinds.ts';
import { type KubeClient, keyOf, type Pod, pods } from '../../lib/kube/index.ts';
import type { NodeConfig } from '../../lib/node-config/index.ts';
import type { ServerReads } from '../../lib/server-reads.ts';
import { askServer } from '../runtime/ask-server.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import { writeStatus } from '../runtime/write-status.ts';
import type { QuotaGate } from '../step-pods/quota-gate.ts';
import { stopPod } from '../step-pods/release-pod.ts';
import { isTerminating } from '../tenants.ts';
import { findDefinition, isNew } from './begin/find-definition.ts';
import {
  conversationWait,
  decideEnd,
  decidePod,
  type End,
  failed,
  nextAttempt,
  type PodDecision,
  type Reasoned,
} from './decide.ts';
import { type AfterwardsDeps, afterwards, letGo } from './end/afterwards.ts';
import { endByPod, lateOutcome, type RecordedEnd, withRecordedEnd } from './end/recorded-end.ts';
import { withWaitingJudge } from './end/waiting-judge.ts';
import { agentLimits } from './limits.ts';
import { openNetworks } from './pod/agent-network.ts';
import { type AgentPodSettings, agentPodName } from './pod/agent-pod.ts';
import { askVolumes } from './pod/ask-volumes.ts';
import { makePod, type Wait } from './pod/make-pod.ts';
import { isOfVolume, planPod } from './pod/plan-pod.ts';
import { endedStatus, statusWith } from './status.ts';

interface AgentExecutionDeps extends AfterwardsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'create' | 'delete' | 'jsonPatch' | 'jsonPatchStatus'>;
  readonly executions: Pick<CacheReader<AgentExecution>, 'get' | 'remember'>;
  /** The execution with what its cache leaves out; undefined where it is gone. */
  readonly whole: (execution: AgentExecution) => Promise<AgentExecution | undefined>;
  readonly agents: KnownAgents;
  readonly readAgent: ServerReads<Agent>;
  readonly pods: Pick<CacheReader<Pod>, 'get' | 'remember'>;
  readonly volumes: Pick<CacheReader<Volume>, 'get' | 'remember'>;
  readonly nodeConfig: Pick<NodeConfig, 'runtimes' | 'isolation'>;
  readonly settings: AgentPodSettings;
  readonly recordedEnd: RecordedEnd;
  /** Makes objects that count in a quota. */
  readonly quota: Pick<QuotaGate, 'create' | 'leave'>;
  /** Hears why an execution has ended, once its status says so. */
  readonly onEnd: (reason: string) => void;
}

/**
 * Runs an execution of an agent to its end (design §12): fixes the definition, gives it a pod where it needs one, and
 * turns the outcome that the API writes into status.
 */
export function createAgentExecutionReconcile(deps: AgentExecutionDeps) {
  return async (key: string): Promise<ReconcileResult> => {
    const execution = deps.executions.get(key);
    const wantsNothing = execution === undefined || isTerminating(deps, execution) || finished(execution);
    if (wantsNothing) deps.quota.leave(key);
    if (execution === undefined) return undefined;
    if (isTerminating(deps, execution)) return endDeleted(deps, execution);
    if (finished(execution)) return goOnAfterwards(deps, execution);
    const end = decideEnd(execution, deps.clock.now());
    if (end !== undefined) return endOrWait(deps, execution, end);
    if (execution.status?.agent === undefined) return begin(deps, execution);
    return goOn(deps, execution);
  };
}

/**
 * A finalizer of others may keep the execution for long: its pod ends now, as if the garbage collector had taken it. A namespace
 * that ends takes its pods itself, and may have taken our right to.
 */
async function endDeleted(deps: AgentExecutionDeps, execution: AgentExecution): Promise<ReconcileResult> {
  if (!deps.isEnding(execution.metadata.namespace ?? '')) await releasePod(deps, execution);
  return letGo(deps, execution);
}

/** An execution that has ended needs no pod. */
async function goOnAfterwards(deps: AgentExecutionDeps, execution: AgentExecution): Promise<ReconcileResult> {
  await releasePod(deps, execution);
  return afterwards(deps, execution);
}

async function endOrWait(deps: AgentExecutionDeps, execution: AgentExecution, end: End): Promise<ReconcileResult> {
  const late = await lateOutcome(deps, execution, end);
  if (late === undefined) {
    const said = withWaitingJudge(deps.executions, execution, await withRecordedEnd(deps, execution, end));
    return finish(deps, execution, said);
  }
  await write(deps, execution, statusWith(execution, deps.clock.now(), {}, late.why));
  return { requeueAfterMs: late.againMs, reason: late.why.reason };
}

async function finish(deps: AgentExecutionDeps, execution: AgentExecution, end: End): Promise<ReconcileResult> {
  deps.quota.leave(keyOf(execution));
  const written = await write(deps, execution, endedStatus(execution, deps.clock.now(), end));
  deps.onEnd(end.reason);
  recordEvent(deps, execution, end.phase === 'failed' ? 'Warning' : 'Normal', end);
  return goOnAfterwards(deps, written);
}

const write = (deps: AgentExecutionDeps, execution: AgentExecution, status: AgentExecutionStatus) =>
  writeStatus({ kube: deps.kube, resource: agentExecutions, cache: deps.executions }, execution, status);

function recordEvent(
  { events }: AgentExecutionDeps,
  object: AgentExecution,
  type: 'Normal' | 'Warning',
  { reason, message }: Pick<End, 'reason' | 'message'>,
): void {
  events.record({ resource: agentExecutions, object, type, reason, action: 'Reconcile', note: message });
}

async function waitFor(
  deps: AgentExecutionDeps,
  execution: AgentExecution,
  why: Reasoned | undefined,
  requeueAfterMs: number,
): Promise<ReconcileResult> {
  const now = deps.clock.now();
  const { phase, until, why: waiting } = conversationWait(execution, now);
  const status = statusWith(execution, now, phase === undefined ? {} : { phase }, why ?? waiting);
  await write(deps, execution, status);
  const deadline = Date.parse(status.deadline ?? '') || Number.POSITIVE_INFINITY;
  const left = Math.min(requeueAfterMs, deadline - now, until - now);
  if (left === Number.POSITIVE_INFINITY) return undefined;
  return { requeueAfterMs: Math.max(0, left), reason: why?.reason ?? waiting?.reason ?? 'deadline' };
}

/** The cache may lack the agent of a young execution. Later a change of the agent wakes the execution. */
const agentAgainMs = (execution: AgentExecution, now: number): number =>
  isNew(execution, now) ? agentLimits.lookAgainMs : agentLimits.agentAgainMs;

/** Fixes the definition, and from then on counts the time. */
async function begin(deps: AgentExecutionDeps, execution: AgentExecution): Promise<ReconcileResult> {
  const now = deps.clock.now();
  const found = await findDefinition(deps, execution, now);
  if (found.kind === 'failed') return finish(deps, execution, failed(found.why));
  if (found.kind === 'waits') return waitFor(deps, execution, found.why, agentAgainMs(execution, now));
  const text = execution.spec.timeout ?? found.spec.execution?.timeout ?? agentLimits.timeout;
  const status = statusWith(execution, now, {
    phase: 'running',
    agent: found.agent,
    started_at: new Date(now).toISOString(),
    deadline: new Date(now + Math.min(parseDuration(text, { field: 'timeout' }), agentLimits.longestMs)).toISOString(),
  });
  return goOn(deps, await write(deps, execution, status), found.spec);
}

async function goOn(deps: AgentExecutionDeps, execution: AgentExecution, known?: AgentSpec): Promise<ReconcileResult> {
  const { pod } = execution.status ?? {};
  if (pod?.uid !== undefined) return followPod(deps, execution, pod.uid);
  const agent = known ?? (await pinnedAgent(deps.kube, execution.status?.agent));
  if (agent === undefined) {
    const message = 'the revision of the agent is gone, or may not be read';
    const againMs = agentAgainMs(execution, deps.clock.now());
    return waitFor(deps, execution, { reason: 'AgentNotReady', message }, againMs);
  }
  if (!needsPod(agent, execution.spec.volumes)) return waitFor(deps, execution, undefined, Number.POSITIVE_INFINITY);
  return givePod(deps, execution, agent, pod?.attempt ?? 1);
}

/** Makes the pod of an attempt and names it in the status: from then on that pod, and no other, may attest. */
async function givePod(
  deps: AgentExecutionDeps,
  known: AgentExecution,
  agent: AgentSpec,
  attempt: number,
): Promise<ReconcileResult> {
  const execution = await withMounts(known, deps.whole);
  return execution && startPod(deps, execution, agent, attempt);
}

/** The plan of the pod. Nothing fails for a volume before the server was asked for it. */
async function plannedPod(deps: AgentExecutionDeps, execution: AgentExecution, agent: AgentSpec) {
  const { namespace = '' } = execution.metadata;
  const plan = (volumeOf: (name: string) => Volume | undefined) =>
    planPod({ execution, agent, nodeConfig: deps.nodeConfig, volumeOf, isNew: isNew(execution, deps.clock.now()) });
  const planned = plan((name) => deps.volumes.get(`${namespace}/${name}`));
  if (planned.kind !== 'failed' || !isOfVolume(planned.why)) return planned;
  const asked = await askVolumes(deps.kube, deps.volumes, { namespace, mounts: mountsOf(agent, execution.spec) });
  return plan((name) => asked.get(name));
}

async function startPod(
  deps: AgentExecutionDeps,
  execution: AgentExecution,
  agent: AgentSpec,
  attempt: number,
): Promise<ReconcileResult> {
  const now = deps.clock.now();
  const planned = await plannedPod(deps, execution, agent);
  if (planned.kind === 'failed') return finish(deps, execution, failed(planned.why));
  if (planned.kind === 'waits') return waitFor(deps, execution, planned.why, agentLimits.lookAgainMs);
  const opened = await openNetworks(deps, execution, agent);
  if (opened.kind === 'failed') return finish(deps, execution, failed(opened.why));
  if (opened.kind === 'waits') return waitForRoom(deps, execution, opened);
  const made = await makePod(deps, execution, attempt, planned.plan);
  if (made.kind === 'failed') return finish(deps, execution, failed(made.why));
  if (made.kind === 'waits') return waitForRoom(deps, execution, made);
  const { name = '', uid } = made.pod.metadata;
  const status = statusWith(execution, now, { pod: { name, attempt, ...(uid === undefined ? {} : { uid }) } });
  return followPod(deps, await write(deps, execution, status), uid ?? '');
}

/** The first pod is wanted from the start of the execution on. One that takes the place of a lost pod waits to the deadline. */
async function waitForRoom(
  deps: AgentExecutionDeps,
  execution: AgentExecution,
  { why, inLine }: Wait,
): Promise<ReconcileResult> {
  const now = deps.clock.now();
  const { started_at: begun = '', pod } = execution.status ?? {};
  const isFirst = (pod?.attempt ?? 1) === 1;
  const left = isFirst ? (Date.parse(begun) || now) + agentLimits.queueMs - now : Number.POSITIVE_INFINITY;
  if (left <= 0) return finish(deps, execution, failed(why));
  return waitFor(deps, execution, why, Math.min(left, inLine === true ? agentLimits.quotaMs : agentLimits.roomMs));
}

async function followPod(deps: AgentExecutionDeps, execution: AgentExecution, uid: string): Promise<ReconcileResult> {
  const now = deps.clock.now();
  const decision = await decideAsked(deps, execution, uid);
  switch (decision.kind) {
    case 'runs':
      return waitFor(deps, execution, undefined, Number.POSITIVE_INFINITY);
    case 'waits':
      return waitFor(deps, execution, decision.why, (decision.lookAt ?? Number.POSITIVE_INFINITY) - now);
    case 'failed':
      return failByPod(deps, execution, decision.why);
    case 'lost':
      return replacePod(deps, execution, decision);
  }
}

/** An outcome that the conversation has counts, whatever became of its pod. */
async function failByPod(deps: AgentExecutionDeps, execution: AgentExecution, why: Reasoned): Promise<ReconcileResult> {
  const { isPending, ...end } = await endByPod(deps, execution, why);
  return isPending ? waitFor(deps, execution, end, agentLimits.outcomeMs) : finish(deps, execution, failed(end));
}

/** The server is asked before the pod counts as gone, lost or failed: a watch may be behind. */
async function decideAsked(deps: AgentExecutionDeps, execution: AgentExecution, uid: string): Promise<PodDecision> {
  const { kube, pods: cache, clock } = deps;
  const { namespace = '' } = execution.metadata;
  const name = execution.status?.pod?.name ?? '';
  const decide = (pod: Pod | undefined): PodDecision => decidePod(isOf(uid, pod) ? pod : undefined, clock.now());
  const cached = cache.get(`${namespace}/${name}`);
  const known = decide(cached);
  if (known.kind === 'runs' || known.kind === 'waits') return known;
  const latest = await askServer({ kube, resource: pods, cache }, { namespace, name });
  // One that ended before it was deleted has ended as it did.
  const hasEnded = isOf(uid, cached) && !isNeverStarted(known);
  return hasEnded && !isOf(uid, latest) ? known : decide(latest);
}

const isOf = (uid: string, pod: Pod | undefined): pod is Pod => pod?.metadata.uid === uid;
const isNeverStarted = (decision: PodDecision): boolean =>
  decision.kind === 'failed' && decision.why.reason === 'NeverStarted';

/** requirements AMB-197: the conversation continues in a new pod, three times at most. */
async function replacePod(
  deps: AgentExecutionDeps,
  execution: AgentExecution,
  { why }: Extract<PodDecision, { kind: 'lost' }>,
): Promise<ReconcileResult> {
  const before = execution.status?.pod?.attempt ?? 1;
  const attempt = nextAttempt(before);
  await releasePod(deps, execution);
  if (attempt === undefined) {
    const message = `the pod was lost ${before} times; at last: ${why.reason}: ${why.message}`;
    return failByPod(deps, execution, { reason: 'PodLost', message });
  }
  recordEvent(deps, execution, 'Warning', { reason: why.reason, message: `${why.message}; a new pod takes its place` });
  const name = execution.status?.pod?.name ?? '';
  const status = statusWith(execution, deps.clock.now(), { pod: { name, attempt } });
  return goOn(deps, await write(deps, execution, status));
}

/** Tells the pod to go. Its logs are no output: the conversation is with the API. */
async function releasePod({ kube, pods: cache }: AgentExecutionDeps, execution: AgentExecution): Promise<void> {
  const { namespace = '', uid: owner } = execution.metadata;
  const name = namedPod(execution);
  const cached = cache.get(`${namespace}/${name}`)?.metadata;
  if (cached === undefined || cached.labels?.[labels.executionUid] !== owner) return;
  const { uid, deletionTimestamp } = cached;
  if (uid !== undefined && deletionTimestamp === undefined) await stopPod(kube, { name, namespace, uid }, 'graceful');
}

/** The pod of the status, or the one that was made and is not in the status yet. */
function namedPod(execution: AgentExecution): string {
  const { pod } = execution.status ?? {};
  return pod?.uid === undefined ? agentPodName(execution, pod?.attempt ?? 1) : pod.name;
}

import type { Agent, AgentSpec } from '../../crds/schema/agent.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { KnownAgents } from '../../lib/agent/find-agent.ts';
import { needsPod } from '../../lib/agent/needs-pod.ts';
import { pinnedAgent } from '../../lib/agent/pinned-agent.ts';
import { withMounts } from '../../lib/agent/slim-agent-execution.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import type { KubeClient, Pod } from '../../lib/kube/index.ts';
import type { NodeConfig } from '../../lib/node-config/index.ts';
import type { ServerReads } from '../../lib/server-reads.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import type { QuotaGate } from '../step-pods/quota-gate.ts';
import { isTerminating } from '../tenants.ts';
import { apply, type CarryOutDeps } from './apply.ts';
import { findDefinition } from './begin/find-definition.ts';
import { decideEnd, type End, failed, type Reasoned } from './decide.ts';
import { type AfterwardsDeps, afterwards, letGo } from './end/afterwards.ts';
import { endByPod, lateOutcome, type RecordedEnd, withRecordedEnd } from './end/recorded-end.ts';
import { withWaitingJudge } from './end/waiting-judge.ts';
import { agentLimits } from './limits.ts';
import {
  begins,
  ends,
  endsByPod,
  lostTooOften,
  type Move,
  names,
  replaces,
  rest,
  restForAgent,
  restLate,
  withoutRoom,
} from './moves.ts';
import { openNetworks } from './pod/agent-network.ts';
import type { AgentPodSettings } from './pod/agent-pod.ts';
import { askPod } from './pod/ask-pod.ts';
import { makePod } from './pod/make-pod.ts';
import { plannedPod } from './pod/planned-pod.ts';
import { releaseAgentPod } from './pod/release-agent-pod.ts';

interface AgentExecutionDeps extends AfterwardsDeps, CarryOutDeps {
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
}

/**
 * Runs an execution of an agent to its end (design §12): fixes the definition, gives it a pod where it needs one, and
 * turns the outcome that the API writes into status. Each step observes, decides a move (`moves.ts`), and carries it out
 * (`apply.ts`); the next step begins with the version that was written.
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
    return carryOut(deps, await (end === undefined ? nextMove(deps, execution) : endOrWait(deps, execution, end)));
  };
}

async function carryOut(deps: AgentExecutionDeps, move: Move | undefined): Promise<ReconcileResult> {
  if (move === undefined) return undefined;
  const written = await apply(deps, move);
  switch (move.kind) {
    case 'rests':
      return move.again;
    case 'ends':
      return goOnAfterwards(deps, written);
    case 'goes_on':
      return carryOut(deps, await nextMove(deps, written, move.agent));
  }
}

/** Undefined where the execution is gone. */
async function nextMove(
  deps: AgentExecutionDeps,
  execution: AgentExecution,
  known?: AgentSpec,
): Promise<Move | undefined> {
  const { agent: pin, pod } = execution.status ?? {};
  if (pin === undefined) return begin(deps, execution);
  if (pod?.uid !== undefined) return followPod(deps, execution, pod.uid);
  const agent = known ?? (await pinnedAgent(deps.kube, pin));
  if (agent === undefined) return restForAgent(execution, deps.clock.now(), revisionGone);
  return runAgent(deps, execution, agent);
}

/** Gives the execution a pod, where a tool of the agent runs in one. */
async function runAgent(
  deps: AgentExecutionDeps,
  execution: AgentExecution,
  agent: AgentSpec,
): Promise<Move | undefined> {
  if (!needsPod(agent, execution.spec.volumes)) return rest(execution, deps.clock.now());
  const whole = await withMounts(execution, deps.whole);
  return whole && givePod(deps, whole, agent, execution.status?.pod?.attempt ?? 1);
}

const revisionGone: Reasoned = {
  reason: 'AgentNotReady',
  message: 'the revision of the agent is gone, or may not be read',
};

async function begin(deps: AgentExecutionDeps, execution: AgentExecution): Promise<Move> {
  const now = deps.clock.now();
  const found = await findDefinition(deps, execution, now);
  switch (found.kind) {
    case 'found':
      return begins(execution, now, found);
    case 'waits':
      return restForAgent(execution, now, found.why);
    case 'failed':
      return ends(execution, deps.clock.now(), failed(found.why));
  }
}

/** Makes the pod of an attempt, with its network. */
async function givePod(
  deps: AgentExecutionDeps,
  execution: AgentExecution,
  agent: AgentSpec,
  attempt: number,
): Promise<Move> {
  const { clock } = deps;
  const planned = await plannedPod(deps, execution, agent);
  if (planned.kind === 'failed') return ends(execution, clock.now(), failed(planned.why));
  if (planned.kind === 'waits')
    return rest(execution, clock.now(), { why: planned.why, againMs: agentLimits.lookAgainMs });
  const opened = await openNetworks(deps, execution, agent);
  if (opened.kind !== 'open') return withoutRoom(execution, clock.now(), opened);
  const made = await makePod(deps, execution, attempt, planned.plan);
  if (made.kind !== 'made') return withoutRoom(execution, clock.now(), made);
  return names(execution, clock.now(), { attempt, pod: made.pod });
}

async function followPod(deps: AgentExecutionDeps, execution: AgentExecution, uid: string): Promise<Move> {
  const decision = await askPod(deps, execution, uid);
  const now = deps.clock.now();
  switch (decision.kind) {
    case 'runs':
      return rest(execution, now);
    case 'waits':
      return rest(execution, now, { why: decision.why, againMs: (decision.lookAt ?? Number.POSITIVE_INFINITY) - now });
    case 'failed':
      return failByPod(deps, execution, decision.why);
    case 'lost': {
      const { why } = decision;
      const replaced = replaces(execution, now, why);
      if (replaced !== undefined) return replaced;
      const move = await failByPod(deps, execution, lostTooOften(execution, why));
      return { ...move, actions: [{ kind: 'release_pod' }] };
    }
  }
}

async function failByPod(deps: AgentExecutionDeps, execution: AgentExecution, why: Reasoned): Promise<Move> {
  const end = await endByPod(deps, execution, why);
  return endsByPod(execution, deps.clock.now(), end);
}

async function endOrWait(deps: AgentExecutionDeps, execution: AgentExecution, end: End): Promise<Move> {
  const late = await lateOutcome(deps, execution, end);
  if (late !== undefined) return restLate(execution, deps.clock.now(), late);
  const said = withWaitingJudge(deps.executions, execution, await withRecordedEnd(deps, execution, end));
  return ends(execution, deps.clock.now(), said);
}

/**
 * A finalizer of others may keep the execution for long: its pod ends now, as if the garbage collector had taken it. A namespace
 * that ends takes its pods itself, and may have taken our right to.
 */
async function endDeleted(deps: AgentExecutionDeps, execution: AgentExecution): Promise<ReconcileResult> {
  if (!deps.isEnding(execution.metadata.namespace ?? '')) await releaseAgentPod(deps, execution);
  return letGo(deps, execution);
}

/** An execution that has ended needs no pod. */
async function goOnAfterwards(deps: AgentExecutionDeps, execution: AgentExecution): Promise<ReconcileResult> {
  await releaseAgentPod(deps, execution);
  return afterwards(deps, execution);
}

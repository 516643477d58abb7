import { readyOf } from '../../../crds/ready.ts';
import type { Agent, AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { cachedAgent, type KnownAgents, mayBeHidden, meantAgent } from '../../../lib/agent/find-agent.ts';
import { judgeNameOf, noSuchJudge } from '../../../lib/agent/judge-name.ts';
import { type PinnedAgent, pinnedAgent } from '../../../lib/agent/pinned-agent.ts';
import { isBeingDeleted, unlessBeingDeleted } from '../../../lib/being-deleted.ts';
import { type RevisionReader, storedRevision } from '../../../lib/registration/stored-version.ts';
import type { ServerReads } from '../../../lib/server-reads.ts';
import { isNew, type Reasoned } from '../decide.ts';
import { isAgentThere, newerAgent } from './confirm-missing.ts';

type Found =
  | { readonly kind: 'found'; readonly agent: PinnedAgent; readonly spec: AgentSpec }
  | { readonly kind: 'waits'; readonly why: Reasoned }
  | { readonly kind: 'failed'; readonly why: Reasoned };

interface FindDeps {
  readonly kube: RevisionReader;
  readonly agents: KnownAgents;
  readonly readAgent: ServerReads<Agent>;
}

const waits = (reason: Reasoned['reason'], message: string): Found => ({ kind: 'waits', why: { reason, message } });

/** The definition that an execution is to run, or why it cannot begin. */
export async function findDefinition(deps: FindDeps, execution: AgentExecution, now: number): Promise<Found> {
  const { metadata, spec } = execution;
  const agent = await nearestAgent(deps, metadata.namespace ?? '', spec.agent);
  if (agent === undefined) {
    const why = {
      reason: 'AgentNotFound' as const,
      message: `no agent ${spec.agent} is here or in the global namespace${meantAgent(deps.agents, metadata.namespace ?? '', spec.agent)}`,
    };
    return missing(deps, execution, { agent: spec.agent, why, now });
  }
  if (isBeingDeleted(agent)) return missing(deps, execution, { agent: spec.agent, why: leaving(agent), now });
  return withJudge(deps, execution, await versionOf(deps, agent, spec.version), now);
}

/**
 * The agent of the cache, unless the server has one that hides it: the cache may not show yet what was created before the
 * execution, and one that began with another agent keeps that (ADR 0156).
 */
async function nearestAgent({ agents, readAgent }: FindDeps, namespace: string, nameOrUid: string) {
  const known = cachedAgent(agents, namespace, nameOrUid);
  if (known === undefined || !mayBeHidden(known, namespace, nameOrUid)) return known;
  return (await readAgent({ namespace, name: nameOrUid })) ?? known;
}

/** The version that is asked for. None is refused before the server was asked: it may have been applied a moment ago. */
async function versionOf(deps: FindDeps, agent: Agent, wanted: string | undefined, isLatest = false): Promise<Found> {
  const version = wanted ?? agent.spec.version;
  const revision = await revisionOf(deps, agent, wanted);
  if (revision !== undefined) return pinned(deps, agent, version, revision);
  if (version === agent.spec.version) return waits('AgentNotReady', notReady(agent));
  const latest = isLatest ? undefined : await newerAgent(deps.kube, agent);
  if (latest !== undefined) return versionOf(deps, latest, wanted, true);
  const known = agent.status?.versions?.map((row) => row.version).join(', ') || agent.spec.version;
  const message = `agent ${agent.metadata.name} has no version ${version}; it has: ${known}`;
  return { kind: 'failed', why: { reason: 'VersionNotFound', message } };
}

const leaving = ({ metadata }: Agent): Reasoned => ({
  reason: 'AgentNotFound',
  message: `agent ${metadata.name} is being deleted; register it again once it is gone, or run another`,
});

interface Missing {
  readonly agent: string;
  readonly why: Reasoned;
  readonly now: number;
}

/** Nothing fails for an agent before the server was asked for it. */
async function missing({ kube }: FindDeps, execution: AgentExecution, { agent, why, now }: Missing): Promise<Found> {
  const mayCome = isNew(execution, now) || (await isAgentThere(kube, execution.metadata.namespace ?? '', agent));
  return { kind: mayCome ? 'waits' : 'failed', why };
}

function notReady(agent: Agent): string {
  const why = readyOf(agent)?.message ?? 'its definition has not been looked at yet';
  return `agent ${agent.metadata.name} is not ready: ${why}`;
}

/** Name of the revision with the newest content once that is accepted, or of the stored version that is asked for. */
async function revisionOf({ kube }: FindDeps, agent: Agent, version: string | undefined): Promise<string | undefined> {
  if (version === undefined || version === agent.spec.version) return newestRevision(agent);
  const row = agent.status?.versions?.find((candidate) => candidate.version === version);
  return row?.revision ?? (await storedRevision(kube, agent, version))?.metadata.name;
}

const newestRevision = (agent: Agent): string | undefined =>
  readyOf(agent)?.status === 'True' ? agent.status?.revision : undefined;

async function pinned({ kube }: FindDeps, agent: Agent, version: string, revision: string): Promise<Found> {
  const { name, namespace = '', uid = '' } = agent.metadata;
  const pin = { name: name ?? '', namespace, uid, version, revision };
  const spec = await pinnedAgent(kube, pin);
  if (spec === undefined) return waits('AgentNotReady', `revision ${revision} of agent ${pin.name} cannot be read`);
  return { kind: 'found', agent: pin, spec };
}

/** Before the first question to a model: a judge that is missing would be found only when the work is done. */
async function withJudge(deps: FindDeps, execution: AgentExecution, found: Found, now: number): Promise<Found> {
  const judge = found.kind === 'found' ? judgeNameOf(found.spec) : undefined;
  const namespace = execution.metadata.namespace ?? '';
  const known = judge === undefined ? undefined : cachedAgent(deps.agents, namespace, judge);
  if (judge === undefined || unlessBeingDeleted(known) !== undefined) return found;
  if (known !== undefined) return missing(deps, execution, { agent: judge, why: leaving(known), now });
  const message = `${noSuchJudge(judge)}${meantAgent(deps.agents, namespace, judge)}; register it, or change validation.agent`;
  return missing(deps, execution, { agent: judge, why: { reason: 'AgentNotFound', message }, now });
}

import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { openAsk } from '../../../lib/decision/open-ask.ts';
import { newest } from '../../../lib/decision/update-execution.ts';
import { ExecutionError } from '../../../lib/execution/execution-error.ts';
import type { OutputReader } from '../../../lib/execution/output-reader.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { findAgain, type KubeClient } from '../../../lib/kube/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { pageOf, type TimeKey, createTimeCursor } from '../../../lib/http/paging.ts';
import { type AskedApproval, findAsked } from './asked.ts';
import { goneText, type ListedApprovalRequest, listHumanApprovals, readHumanApproval } from './contract.ts';
import { pendingOf } from './pending.ts';
import { presentAsk, presentListed, presentRequest } from './present.ts';

const timeCursor = createTimeCursor('human-approvals');

export interface ReadDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly outputs: OutputReader;
  readonly cluster: Pick<Cluster, 'executions' | 'agentAsks'>;
}

/** Something that waits for a person: a Human state, or a tool call of an agent. */
interface Row {
  readonly key: TimeKey;
  readonly present: () => ListedApprovalRequest;
}

export function createListRoute({ clock, cluster }: ReadDeps): Route<Caller> {
  return defineRoute<typeof listHumanApprovals, Caller>(listHumanApprovals, async ({ query, caller }) => {
    const now = clock.now();
    const all = [
      ...cluster.executions.listAsking(caller.tenant).flatMap((execution) => stateRow(execution, now)),
      ...cluster.agentAsks.list(caller.tenant).flatMap((execution) => callRow(execution, now)),
    ];
    const { rows, next } = pageOf(all, byAge, { limit: query.limit, after: timeCursor.decode(query.cursor) });
    return json({
      pending_requests: rows.map(({ present }) => present()),
      ...(next !== undefined && { next_cursor: timeCursor.encode(next) }),
    });
  });
}

function stateRow(execution: WorkflowExecution, now: number): Row[] {
  const pending = pendingOf(execution, now);
  if (pending === undefined) return [];
  const { id, current } = pending;
  return [{ key: { at: current.entered_at, id }, present: () => presentListed(pending) }];
}

function callRow(execution: AgentExecution, now: number): Row[] {
  const ask = openAsk(execution, now);
  if (ask === undefined) return [];
  return [{ key: { at: ask.asked_at, id: ask.id }, present: () => presentAsk(execution, ask) }];
}

const byAge = {
  keyOf: ({ key }: Row): TimeKey => key,
  compare: (a: TimeKey, b: TimeKey): number => a.at.localeCompare(b.at) || a.id.localeCompare(b.id),
};

/** Asks the server, so that a request is gone on every replica as soon as it is decided on one. */
export function createReadRoute(deps: ReadDeps): Route<Caller> {
  return defineRoute<typeof readHumanApproval, Caller>(readHumanApproval, async ({ params, caller }) => {
    const asked = await findAsked(deps.cluster, caller.tenant, params.id.toLowerCase());
    const request =
      asked && (asked.kind === 'state' ? await stateRequest(deps, asked) : await callRequest(deps, asked));
    return json(request === undefined ? { error: goneText } : { request });
  });
}

async function stateRequest({ kube, clock, outputs }: ReadDeps, { id, execution }: AskedApproval<'state'>) {
  const latest = await newest(kube, execution).catch(unlessDeleted);
  const pending = latest && pendingOf(latest, clock.now());
  return pending?.id === id ? presentRequest(outputs, pending) : undefined;
}

async function callRequest({ kube, clock }: ReadDeps, { id, execution }: AskedApproval<'call'>) {
  const latest = await findAgain(kube, agentExecutions, execution);
  const ask = latest && openAsk(latest, clock.now());
  return latest !== undefined && ask?.id === id ? presentAsk(latest, ask) : undefined;
}

function unlessDeleted(error: unknown): undefined {
  if (!(error instanceof ExecutionError && error.reason === 'Deleted')) throw error;
}

import { randomInt } from 'node:crypto';
import { WindlassApiError } from '../../../client/index.ts';
import { limits } from '../../../crds/limits.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Phase } from '../../../crds/schema/workflow-execution-status.ts';
import { isCancelled } from '../../../lib/decision/commit-cancel.ts';
import { signalFor } from '../../../lib/decision/human-decision.ts';
import { workflowName } from '../../../lib/manifest/object-name.ts';
import type {
  AgainRequest,
  HumanAnswer,
  AnsweredApproval,
  Cancelled,
  ExecutionBackend,
  ExecutionFilter,
  PendingApproval,
  StartRequest,
} from '../backend.ts';
import { nameTaken, noExecution } from '../refusals.ts';
import { allPages } from './all-pages.ts';
import { executionOf, wholeExecutionOf } from './execution-object.ts';
import { followExecution } from './follow.ts';
import type { HttpDeps } from './deps.ts';
import { notFoundHere, onlyKubernetes } from './refusals.ts';

/** Executions as the API shows them. */
export function createExecutions(deps: HttpDeps): ExecutionBackend {
  const { client } = deps;
  return {
    start: (request) => start(deps, request),
    list: (filter) => list(deps, filter),
    read: (nameOrUid, options = {}) => read(deps, nameOrUid, options.timeoutMs),
    questions: () => questions(deps),
    follow: (execution, signal) => followExecution(deps, execution, signal),
    async inFull({ metadata }) {
      return wholeExecutionOf(await client.readExecution({ execution_id: metadata.uid ?? '', full: true }));
    },
    finalOutput: (execution) => finalOutput(deps, execution),
    again: (execution, request) => again(deps, execution, request),
    async delete({ metadata }) {
      await client.deleteExecution({ execution_id: metadata.uid ?? '' });
    },
    cancel: (execution, reason) => cancel(deps, execution, reason),
    answer: (execution, answer) => decide(deps, execution, answer),
  };
}

/** Attempts to make up a name that is free. */
const nameAttempts = 3;

async function start({ client }: HttpDeps, request: StartRequest): Promise<WorkflowExecution> {
  const { workflow, version, input, intent, blackboard, name, ttlSeconds } = request;
  const fields = { workflow: workflowName(workflow.metadata), version, input, intent, blackboard };
  for (let attempt = 1; ; attempt++) {
    const body = { ...fields, name: name ?? newName(workflow.metadata.name), ttl_seconds_after_finished: ttlSeconds };
    try {
      const { execution_id } = await client.startExecution({ body });
      return wholeExecutionOf(await client.readExecution({ execution_id }));
    } catch (error) {
      if (!(error instanceof WindlassApiError && error.error === 'already_exists')) throw error;
      if (name !== undefined) throw nameTaken(name);
      if (attempt === nameAttempts) throw error;
    }
  }
}

/** As Kubernetes makes names: five signs behind a dash, without vowels and without what looks like another sign. */
const suffixLength = 5;
const signs = 'bcdfghjklmnpqrstvwxz2456789';

function newName(workflow: string): string {
  const suffix = Array.from({ length: suffixLength }, () => signs[randomInt(signs.length)]).join('');
  return `${workflow.slice(0, limits.nameLength - suffixLength - 1)}-${suffix}`;
}

async function list({ client }: HttpDeps, filter: ExecutionFilter): Promise<WorkflowExecution[]> {
  const { everywhere, selector, workflow, phase, archived, timeoutMs } = filter;
  if (everywhere) throw onlyKubernetes('--all-namespaces', 'You see the executions of one tenant.');
  if (selector !== undefined) throw onlyKubernetes('--selector', 'Narrow the list with --workflow and --phase.');
  const found = await allPages(async (cursor) => {
    const query = { workflow, status: phase as Phase, archived, cursor, limit: limits.pageSizeMax };
    const { executions: rows, next_cursor: next } = await client.listExecutions(query, { timeoutMs });
    return { rows, next };
  });
  return found.map(executionOf);
}

/** An execution that is not in the list yet, or no more, is shown by its id. */
async function questions(deps: HttpDeps): Promise<PendingApproval[]> {
  const [requests, executions, agents] = await Promise.all([
    allPages(async (cursor) => {
      const { pending_requests: rows, next_cursor: next } = await deps.client.listHumanApprovals({ cursor });
      return { rows, next };
    }),
    list(deps, { everywhere: false, phase: 'waiting' }),
    allPages(async (cursor) => {
      const query = { status: 'waiting', cursor, limit: limits.pageSizeMax } as const;
      const { executions: rows, next_cursor: next } = await deps.client.listAgentExecutions(query);
      return { rows, next };
    }),
  ]);
  const asking = new Map([
    ...executions.map(({ metadata, status }) => [metadata.uid, { name: metadata.name, state: status?.state }] as const),
    ...agents.map(({ execution_id: id, name, agent }) => [id, { name, state: `agent ${agent}` }] as const),
  ]);
  return requests.map(({ execution_id, prompt, created_at: since }) => {
    const { name = execution_id, state = '' } = asking.get(execution_id) ?? {};
    return { execution: name, execution_id, state, prompt, since };
  });
}

async function read(
  { client, words }: HttpDeps,
  nameOrUid: string,
  timeoutMs: number | undefined,
): Promise<WorkflowExecution> {
  const answer = client.readExecution({ execution_id: nameOrUid }, { timeoutMs });
  return wholeExecutionOf(await notFoundHere(answer, noExecution(nameOrUid, words)));
}

async function finalOutput({ client }: HttpDeps, { status, metadata }: WorkflowExecution): Promise<Json | undefined> {
  if (status?.final_output !== undefined) return status.final_output;
  if (status?.phase !== 'completed') return undefined;
  const { final_output } = await client.readExecution({ execution_id: metadata.uid ?? '', full: true });
  return (final_output as Json | null) ?? undefined;
}

async function again(
  { client }: HttpDeps,
  { metadata }: WorkflowExecution,
  { from, name, input }: AgainRequest,
): Promise<WorkflowExecution> {
  const id = metadata.uid ?? '';
  const started =
    from === undefined
      ? client.rerunExecution({ execution_id: id, body: { name, input } })
      : client.retryExecution({ execution_id: id, body: { from, name } });
  try {
    const { execution_id } = await started;
    return wholeExecutionOf(await client.readExecution({ execution_id }));
  } catch (error) {
    const isTaken = error instanceof WindlassApiError && error.error === 'already_exists' && name !== undefined;
    throw isTaken ? nameTaken(name) : error;
  }
}

async function cancel(
  { client, subject }: HttpDeps,
  execution: WorkflowExecution,
  reason: string | undefined,
): Promise<Cancelled> {
  const execution_id = execution.metadata.uid ?? '';
  // Refused with the same words as through Kubernetes.
  const wasCancelled = isCancelled(execution);
  const cancelled = await client.cancelExecution({ execution_id, body: { reason } });
  const latest = wholeExecutionOf(await client.readExecution({ execution_id }));
  const wasBefore = wasCancelled || cancelled.by !== (await subject());
  return { execution: latest, ...(wasBefore ? earlierOf(cancelled) : {}) };
}

/** One that ended with its parent has no person who cancelled it. */
function earlierOf({ by, at }: { readonly by?: string; readonly at?: string }): Pick<Cancelled, 'earlier'> {
  return by === undefined || at === undefined ? {} : { earlier: { by, at } };
}

/** Refuses an impossible decision with the reason; among several at the same time the server takes one. */
async function decide(
  { client, clock, subject }: HttpDeps,
  execution: WorkflowExecution,
  answer: HumanAnswer,
): Promise<AnsweredApproval> {
  const by = await subject();
  const at = new Date(clock.now()).toISOString();
  const { state, response } = signalFor(execution, { ...answer, by, at, via: 'api' });
  await client.signalExecution({
    execution_id: execution.metadata.uid ?? '',
    body: { response, state, feedback: answer.feedback },
  });
  return { state, response, by };
}

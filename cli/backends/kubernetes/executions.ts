import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { isUid } from '../../../crds/uid.ts';
import { commitCancel } from '../../../lib/decision/commit-cancel.ts';
import { commitDecision } from '../../../lib/decision/commit-decision.ts';
import { createGate } from '../../../lib/decision/gate.ts';
import { waitingFor } from '../../../lib/decision/human-decision.ts';
import { defined } from '../../../lib/defined.ts';
import { buildExecution, validatedVersion } from '../../../lib/execution/build-execution.ts';
import { executionAgain } from '../../../lib/execution/execution-again.ts';
import { finalOutput, fullExecution } from '../../../lib/execution/full-execution.ts';
import { workflowExecutions } from '../../../lib/kinds.ts';
import { findObject } from '../../../lib/kube/find-object.ts';
import type { CallOptions } from '../../../lib/kube/index.ts';
import { isAlreadyExists } from '../../../lib/kube/kube-error.ts';
import { workflowName } from '../../../lib/manifest/object-name.ts';
import { workflowOf } from '../../workflow-of.ts';
import type {
  AgainRequest,
  Cancelled,
  ExecutionBackend,
  ExecutionFilter,
  HumanAnswer,
  PendingApproval,
  StartRequest,
} from '../backend.ts';
import { nameTaken, noExecution } from '../refusals.ts';
import type { KubernetesDeps } from './deps.ts';
import { followExecution } from './follow.ts';
import { inNamespace, listedIn } from './known-namespace.ts';
import { onlyTheApi } from './only-the-api.ts';

/** The execution of that name or uid in the namespace. Throws a not-found error with a hint. */
async function findExecution(
  { kube, namespace, words }: Pick<KubernetesDeps, 'kube' | 'namespace' | 'words'>,
  nameOrUid: string,
  options: CallOptions = {},
): Promise<WorkflowExecution> {
  if (isUid(nameOrUid)) {
    const { items } = await kube.listAll(workflowExecutions, { namespace, ...options });
    const found = items.find(({ metadata }) => metadata.uid === nameOrUid);
    if (found) return found;
    throw noExecution(nameOrUid, words);
  }
  const found = await findObject(kube, workflowExecutions, { namespace, name: nameOrUid }, options);
  if (found === undefined) throw noExecution(nameOrUid, words);
  return found;
}

/** Executions as custom resources. */
export function createExecutions(deps: KubernetesDeps): ExecutionBackend {
  const { outputs } = deps;
  return {
    start: (request) => inNamespace(deps, start(deps, request)),
    list: (filter) => list(deps, filter),
    read: (nameOrUid, options) => inNamespace(deps, findExecution(deps, nameOrUid, options)),
    questions: () => questions(deps),
    follow: ({ metadata }, signal) => followExecution(deps, metadata, signal),
    inFull: (execution) => fullExecution(outputs, execution),
    finalOutput: (execution) => finalOutput(outputs, execution),
    again: (execution, request) => again(deps, execution, request),
    delete: (execution) => remove(deps, execution),
    cancel: (execution, reason) => cancel(deps, execution, reason),
    answer: (execution, answer) => decide(deps, execution, answer),
  };
}

async function start({ kube, namespace }: KubernetesDeps, request: StartRequest): Promise<WorkflowExecution> {
  try {
    return await kube.create(workflowExecutions, executionOf(namespace, request));
  } catch (error) {
    throw isAlreadyExists(error) && request.name !== undefined ? nameTaken(request.name) : error;
  }
}

/**
 * The object to create, of the version that its input was checked against. Without a name the API server adds a suffix of
 * its own to the workflow's.
 */
function executionOf(namespace: string, request: StartRequest): WorkflowExecution {
  const { input, intent, blackboard, name, ttlSeconds, workflow } = request;
  const { metadata } = workflow;
  const version = request.version ?? validatedVersion(workflow);
  return buildExecution({
    name,
    namespace,
    workflow: { reference: workflowName(metadata), object: metadata.name, uid: metadata.uid, version },
    spec: defined({ input, intent, blackboard, ttl_seconds_after_finished: ttlSeconds }),
  });
}

async function list(
  deps: KubernetesDeps,
  { everywhere, selector, workflow, phase, archived, timeoutMs }: ExecutionFilter,
): Promise<readonly WorkflowExecution[]> {
  if (archived === true) throw onlyTheApi('the archive is read through the HTTP API');
  const { items } = await deps.kube.listAll(workflowExecutions, {
    timeoutMs,
    namespace: everywhere ? undefined : deps.namespace,
    labelSelector: selector,
  });
  if (!everywhere) await listedIn(deps, items);
  return items.filter((execution) => {
    if (phase !== undefined && (execution.status?.phase ?? 'pending') !== phase) return false;
    return workflow === undefined || [workflowOf(execution), execution.spec.workflow].includes(workflow);
  });
}

async function questions(deps: KubernetesDeps): Promise<PendingApproval[]> {
  const { items } = await deps.kube.listAll(workflowExecutions, { namespace: deps.namespace });
  return (await listedIn(deps, items)).flatMap((execution) => {
    const { metadata, status } = execution;
    if (waitingFor(execution) === undefined || status?.current === undefined) return [];
    const { state, prompt = '', entered_at: since } = status.current;
    return [{ execution: metadata.name, execution_id: metadata.uid ?? '', state, prompt, since }];
  });
}

async function again({ kube }: KubernetesDeps, { metadata }: WorkflowExecution, request: AgainRequest) {
  // Read again: what is shown of an execution may be cut.
  const origin = await kube.get(workflowExecutions, { name: metadata.name, namespace: metadata.namespace });
  try {
    return await kube.create(workflowExecutions, executionAgain(origin, request));
  } catch (error) {
    throw isAlreadyExists(error) && request.name !== undefined ? nameTaken(request.name) : error;
  }
}

async function remove({ kube }: KubernetesDeps, { metadata }: WorkflowExecution): Promise<void> {
  const { name, namespace, uid } = metadata;
  await kube.delete(workflowExecutions, { name, namespace }, defined({ uid, propagation: 'Background' as const }));
}

async function cancel(
  { kube, clock }: KubernetesDeps,
  execution: WorkflowExecution,
  reason: string | undefined,
): Promise<Cancelled> {
  const { username: by } = await kube.whoAmI();
  const at = new Date(clock.now()).toISOString();
  const cancelled = await commitCancel(kube, execution, { by, at, reason });
  const { cancel: first } = cancelled.spec;
  const isOurs = first === undefined || (first.by === by && first.at === at);
  return { execution: cancelled, ...(isOurs ? {} : { earlier: first }) };
}

async function decide({ kube, clock, outputs }: KubernetesDeps, execution: WorkflowExecution, answer: HumanAnswer) {
  const { username: by } = await kube.whoAmI();
  const at = new Date(clock.now()).toISOString();
  return commitDecision(kube, execution, { ...answer, by, at, via: 'cli' }, createGate({ kube, outputs }));
}

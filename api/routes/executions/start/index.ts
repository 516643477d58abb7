import { labels } from '../../../../crds/labels.ts';
import type { Workflow } from '../../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { AuditTrail } from '../../../../lib/bus/index.ts';
import { canonicalHash } from '../../../../lib/definition/canonical.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { type NewId, shortHash } from '../../../../lib/ids.ts';
import { workflowExecutions } from '../../../../lib/kinds.ts';
import { findObject, isAlreadyExists, type KubeClient } from '../../../../lib/kube/index.ts';
import { workflowName } from '../../../../lib/manifest/index.ts';
import { labelValue } from '../../../../lib/pod-slot.ts';
import { tryAgain } from '../../../../lib/retry.ts';
import type { Cluster } from '../../../cluster/index.ts';
import { notFound, unknownTenant } from '../../not-found.ts';
import { assertChosenName } from '../chosen-name.ts';
import { startExecution } from './contract.ts';
import { assertSameRequest, assertSameStart, createExecution } from './create-execution.ts';
import { executionOf, type StartBody } from './plan-start.ts';
import { startable } from './startable.ts';

export interface StartDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'list'>;
  readonly cluster: Pick<Cluster, 'tenants' | 'workflows' | 'executions' | 'lineages'>;
  readonly newId: NewId;
  readonly audit: AuditTrail;
}

export function createStartRoute(deps: StartDeps): Route<Caller> {
  return defineRoute<typeof startExecution, Caller>(startExecution, async ({ body, caller, headers }) => {
    assertChosenName(body.name);
    const namespace = deps.cluster.tenants.namespaceOf(caller.tenant);
    if (namespace === undefined) throw notFound(unknownTenant);
    const key = headers['idempotency-key'];
    const ask = { body, caller, namespace, marks: deps.cluster.lineages.marksFor(caller) };
    const execution = await start(deps, ask, key);
    deps.cluster.executions.remember(execution);
    return json({ execution_id: execution.metadata.uid });
  });
}

interface Ask {
  readonly body: StartBody;
  readonly caller: Caller;
  readonly namespace: string;
  /** Annotations that say which agent is behind it. */
  readonly marks: Readonly<Record<string, string>>;
}

/** A name of the caller's own makes a start as safe to repeat as a key does, and needs none. */
function start(deps: StartDeps, ask: Ask, key: string | undefined): Promise<WorkflowExecution> {
  const { name } = ask.body;
  const { body, caller } = ask;
  if (name !== undefined) {
    // With a key as well, another key is another start: a name that exists is refused.
    return startOnce(deps, ask, { name, request: canonicalHash([body, key ?? null]), assertSame: assertSameStart });
  }
  if (key === undefined) return startNew(deps, ask);
  const named = `start-${shortHash(JSON.stringify([caller.subject, key]), 32)}`;
  return startOnce(deps, ask, { name: named, request: canonicalHash(body), assertSame: assertSameRequest });
}

/** Attempts to make up a free name: with so many random characters the first succeeds. */
const nameAttempts = 3;
const suffixLength = 10;

async function startNew(deps: StartDeps, ask: Ask): Promise<WorkflowExecution> {
  const workflow = await startable(deps, ask);
  const { namespace, caller, marks } = ask;
  return tryAgain(nameAttempts, isAlreadyExists, async () => {
    const name = `${labelValue(workflow.metadata.name)}-${deps.newId().slice(0, suffixLength)}`;
    const execution = executionOf(workflow, ask.body, { name, namespace, subject: caller.subject, marks });
    return withAuditRecord(deps, ask, await createExecution(deps.kube, execution), workflow);
  });
}

interface Once {
  readonly name: string;
  /** Hash of the request. */
  readonly request: string;
  /** Throws where the execution of that name is another one. */
  readonly assertSame: (existing: WorkflowExecution, request: string, caller: Caller) => void;
}

/**
 * The name is the caller's, or follows from caller and key. So a second request finds what the first one made, on
 * whatever replica and however the first one ended. It is answered alike also when the workflow is gone meanwhile.
 */
async function startOnce(deps: StartDeps, ask: Ask, { name, request, assertSame }: Once): Promise<WorkflowExecution> {
  const { caller, namespace, marks } = ask;
  try {
    const workflow = await startable(deps, ask);
    const started = { name, namespace, subject: caller.subject, request, marks };
    const made = await createExecution(deps.kube, executionOf(workflow, ask.body, started));
    assertSame(made, request, caller);
    return withAuditRecord(deps, ask, made, workflow);
  } catch (error) {
    const existing = await findObject(deps.kube, workflowExecutions, { name, namespace });
    if (existing === undefined) throw error;
    assertSame(existing, request, caller);
    return withAuditRecord(deps, ask, existing);
  }
}

/** Also records an execution that existed before: its creator may have died before recording it. */
function withAuditRecord(
  deps: StartDeps,
  ask: Ask,
  execution: WorkflowExecution,
  workflow?: Workflow,
): WorkflowExecution {
  const { metadata, spec, status } = execution;
  const name = workflow === undefined ? (status?.workflow?.name ?? spec.workflow) : workflowName(workflow.metadata);
  const data = { workflow: name, workflow_id: metadata.labels?.[labels.workflowUid] };
  // Without the workflow it is one that stood there.
  const doneAt = workflow === undefined ? metadata.creationTimestamp : undefined;
  const subject = metadata.uid ?? '';
  deps.audit.record({ type: 'ExecutionStarted', by: ask.caller, subject, act: 'start', doneAt, data });
  return execution;
}

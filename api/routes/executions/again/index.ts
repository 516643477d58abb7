import { annotations, labels } from '../../../../crds/labels.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { AuditTrail } from '../../../../lib/bus/index.ts';
import { newest } from '../../../../lib/decision/update-execution.ts';
import { type Beginning, executionAgain, pinOf } from '../../../../lib/execution/execution-again.ts';
import { ExecutionError } from '../../../../lib/execution/execution-error.ts';
import { inputOf } from '../../../../lib/execution/input-of.ts';
import type { RequestBodyOf } from '../../../../lib/http/contract.ts';
import { defineRoute, HttpError, json, type Route } from '../../../../lib/http/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import type { NewId } from '../../../../lib/ids.ts';
import { controllerRevisions, findObject, type KubeClient } from '../../../../lib/kube/index.ts';
import { labelValue } from '../../../../lib/pod-slot.ts';
import { ownerKey } from '../../../../lib/workflow-lookup/index.ts';
import type { Cluster, Reserve } from '../../../cluster/index.ts';
import { notFound, unknownWorkflow } from '../../not-found.ts';
import { assertChosenName } from '../chosen-name.ts';
import { findExecution } from '../find-execution.ts';
import { onLatest } from '../on-latest.ts';
import { createExecution } from '../start/create-execution.ts';
import { startable } from '../start/startable.ts';
import { rerunExecution, retryExecution } from './contract.ts';

export interface AgainDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'list'>;
  readonly cluster: Pick<Cluster, 'executions' | 'workflows'>;
  readonly newId: NewId;
  readonly audit: AuditTrail;
}

/** The routes that run an execution again: from its beginning, or from a state. */
export function createAgainRoutes(deps: AgainDeps): Route<Caller>[] {
  return [
    defineRoute<typeof rerunExecution, Caller>(rerunExecution, async (request) => {
      const { params, body, caller } = request;
      // The room of another input is kept.
      const reserve = async (bytes: number): Promise<void> => {
        if (body.input === undefined) await request.reserve(bytes);
      };
      return json({ execution_id: await again(deps, caller, { id: params.execution_id, reserve, ...body }) });
    }),
    defineRoute<typeof retryExecution, Caller>(retryExecution, async (request) => {
      const { params, body, caller } = request;
      const reserve = (bytes: number): Promise<void> => request.reserve(bytes);
      return json({ execution_id: await again(deps, caller, { id: params.execution_id, reserve, ...body }) });
    }),
  ];
}

type Wish =
  | (Named & RequestBodyOf<typeof rerunExecution> & { readonly from?: undefined })
  | (Named & RequestBodyOf<typeof retryExecution> & { readonly input?: undefined });

interface Named {
  /** Id of the execution to run again. */
  readonly id: string;
  readonly reserve: Reserve;
}

/**
 * Throws 404, as a start does, where the execution ran a workflow that only another user may run. The stored revision
 * names that user, also after the workflow was deleted.
 */
async function assertMayRun(
  kube: Pick<KubeClient, 'get'>,
  { subject }: Pick<Caller, 'subject'>,
  { status }: Pick<WorkflowExecution, 'status'>,
): Promise<void> {
  const pin = status?.workflow;
  if (pin === undefined) return;
  const revision = await findObject(kube, controllerRevisions, { namespace: pin.namespace, name: pin.revision });
  const owner = revision?.metadata.labels?.[labels.user];
  if (owner !== undefined && owner !== ownerKey(subject)) throw notFound(unknownWorkflow);
}

async function again(deps: AgainDeps, caller: Caller, wish: Wish): Promise<string> {
  const { kube, cluster, audit } = deps;
  const { id, reserve, name, from } = wish;
  assertChosenName(name);
  const known = await findExecution(cluster.executions, caller, id, reserve);
  const startedBy = { [annotations.startedBy]: caller.subject };
  const make = async (origin: WorkflowExecution): Promise<WorkflowExecution> => {
    const whole = await newest(kube, origin);
    await assertMayRun(kube, caller, whole);
    const beginning = await beginningOf(deps, caller, whole, wish);
    const called = name ?? `${labelValue(whole.status?.workflow?.name ?? '')}-${deps.newId().slice(0, suffixLength)}`;
    return createExecution(kube, executionAgain(whole, { ...beginning, name: called, annotations: startedBy }));
  };
  try {
    const made = await onLatest(kube, known, make);
    cluster.executions.remember(made);
    const subject = made.metadata.uid ?? '';
    const data = { workflow: made.spec.workflow, origin_execution_id: known.metadata.uid, from };
    audit.record({ type: 'ExecutionStarted', by: caller, subject, act: 'start', data });
    return subject;
  } catch (error) {
    throw neverEntered(error) ?? error;
  }
}

/** Another input is judged as that of a start: by the version that the origin ran. */
async function beginningOf(
  deps: AgainDeps,
  caller: Caller,
  origin: WorkflowExecution,
  { from, input }: Wish,
): Promise<Beginning> {
  if (from !== undefined) return { from };
  if (input === undefined) return {};
  const { uid: workflow, version } = pinOf(origin);
  await startable(deps, { caller, body: { workflow, version, input } });
  return { input: inputOf(input) };
}

/** Random characters of a name that is made up. */
const suffixLength = 10;

function neverEntered(error: unknown): HttpError | undefined {
  if (!(error instanceof ExecutionError && error.reason === 'NeverEntered')) return undefined;
  const fields = { states: error.facts.known ?? [] };
  const { message } = error;
  return new HttpError({ code: 'invalid', status: 422, error: 'never_entered', message, fields, cause: error });
}

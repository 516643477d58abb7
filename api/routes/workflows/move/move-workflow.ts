import { annotations } from '../../../../crds/labels.ts';
import type { Workflow } from '../../../../crds/schema/workflow.ts';
import { formerIdsOf, formerIdsText, type WorkflowScope } from '../../../../lib/workflow-lookup/index.ts';
import { sameJson } from '../../../../lib/same-json.ts';
import { AppError } from '../../../../lib/errors.ts';
import { HttpError } from '../../../../lib/http/index.ts';
import { requireFleetScope } from '../../../../lib/identity/index.ts';
import { workflows as workflowKind } from '../../../../lib/kinds.ts';
import { findAgain, findObject, isConflict, type KubeClient } from '../../../../lib/kube/index.ts';
import { workflowName } from '../../../../lib/manifest/index.ts';
import { definitionLevels, isTooDeep, NestedTooDeep } from '../../../../lib/nesting.ts';
import { specOf } from '../../../../lib/registration/index.ts';
import { firstAnswer } from '../../../../lib/retry.ts';
import { callsFleetTools } from '../../../../lib/tools/fleet-rights.ts';
import type { Cluster, Viewer } from '../../../cluster/index.ts';
import { notFound, unknownWorkflow } from '../../not-found.ts';
import { asRefusal } from '../kube-refusal.ts';
import type { Writer } from '../register.ts';
import { inScope, namespaceOf } from '../target.ts';
import { assertNoRival, copyVersions, olderVersions } from './older-versions.ts';

export interface MoveDeps {
  readonly kube: KubeClient;
  readonly cluster: Pick<Cluster, 'tenants' | 'workflows'>;
  readonly write: Writer;
}

interface PlannedMove {
  readonly scope: WorkflowScope;
  readonly viewer: Viewer;
  readonly force: boolean;
  /** Those of the caller. */
  readonly scopes: readonly string[];
}

/** Another caller may register a version meanwhile; then that one moves. */
const attempts = 10;

/**
 * Registers a workflow in another scope, with all its versions, and then deletes it where it was (docs/adr/0024). Each
 * step may be repeated. A move that broke off between the two is finished by the next one, since the new object knows
 * the id of the old one. Nothing is deleted that was not registered.
 */
export async function moveWorkflow(deps: MoveDeps, known: Workflow, move: PlannedMove): Promise<Workflow> {
  const moved = await firstAnswer(attempts, async () => {
    const source = await findAgain(deps.kube, workflowKind, known);
    if (source === undefined) return await movedByAnother(deps, known, move);
    const target = await registerThere(deps, source, move);
    if (!(await isDeleted(deps.kube, source))) return undefined;
    await deps.cluster.workflows.forgotten(known.metadata.uid ?? '');
    return target;
  }).catch((error: unknown) => {
    throw asRefusal(error);
  });
  if (moved !== undefined) return moved;
  throw new AppError('unavailable', `workflow '${workflowName(known.metadata)}' is being changed by others`);
}

async function registerThere(deps: MoveDeps, source: Workflow, move: PlannedMove): Promise<Workflow> {
  const { kube, write } = deps;
  // The controllers refuse such a definition, and no process could write it anywhere.
  if (isTooDeep(source.spec, definitionLevels))
    throw new NestedTooDeep(`the workflow '${workflowName(source.metadata)}'`);
  const older = await olderVersions(kube, source);
  // In the global scope it acts in every tenant, and an execution may ask for any of its versions.
  if ([source.spec, ...older.map(specOf)].some(callsFleetTools))
    requireFleetScope(move, 'spec.states: a workflow with a version that calls tools of hosts');
  const wanted = inScope(source, move.scope, move.viewer);
  const namespace = namespaceOf(deps.cluster.tenants, move.viewer, move.scope);
  const existing = await findObject(kube, workflowKind, { namespace, name: wanted.metadata.name });
  const uid = source.metadata.uid ?? '';
  const isBegun = existing !== undefined && formerIdsOf(existing).includes(uid);
  const force = move.force || isBegun;
  if (existing !== undefined && !force) {
    if (!sameJson(existing.spec, source.spec)) throw occupied(existing, move.scope);
    await assertNoRival(kube, existing, older);
  }
  const ids = [...(existing === undefined ? [] : formerIdsOf(existing)), ...formerIdsOf(source), uid];
  const notes = { ...wanted.metadata.annotations, [annotations.formerIds]: formerIdsText(ids) };
  const marked = { ...wanted, metadata: { ...wanted.metadata, annotations: notes } };
  const { object } = await write(marked, { namespace, force });
  await copyVersions(kube, object, older);
  return object;
}

/** False when the workflow has changed since it was read, so that the copy elsewhere is no longer complete. */
async function isDeleted(kube: MoveDeps['kube'], { metadata }: Workflow): Promise<boolean> {
  const { namespace, name, uid, resourceVersion } = metadata;
  try {
    await kube.delete(workflowKind, { namespace, name }, { uid, resourceVersion });
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

/** The source is gone: another caller has finished the same move, or has deleted it. */
async function movedByAnother({ kube, cluster }: MoveDeps, known: Workflow, move: PlannedMove): Promise<Workflow> {
  const { name } = inScope(known, move.scope, move.viewer).metadata;
  const there = await findObject(kube, workflowKind, {
    namespace: namespaceOf(cluster.tenants, move.viewer, move.scope),
    name,
  });
  if (there !== undefined && formerIdsOf(there).includes(known.metadata.uid ?? '')) return there;
  throw notFound(unknownWorkflow);
}

function occupied(existing: Workflow, scope: WorkflowScope): HttpError {
  const name = workflowName(existing.metadata);
  const message = `the scope ${scope} has another workflow '${name}', version ${existing.spec.version}; force=true registers this one over it`;
  return new HttpError({ code: 'conflict', message });
}

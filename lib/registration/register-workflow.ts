import type { Workflow } from '../../crds/schema/workflow.ts';
import { AppError } from '../errors.ts';
import { workflows } from '../kinds.ts';
import { findObject, isAlreadyExists, isConflict, isNotFound, type KubeClient } from '../kube/index.ts';
import { workflowName } from '../manifest/object-name.ts';
import type { KeepRevision } from './keep-revision.ts';
import { planRegistration, type Registration } from './plan-registration.ts';
import { specOf } from './revision.ts';
import { storedRevision } from './stored-version.ts';

export interface RegisterDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'create' | 'replace'>;
  /** For whoever may store revisions: then no version that was registered is lost, however fast the next one comes. */
  readonly keep?: KeepRevision;
  /** Waits before another attempt. Default: not at all. */
  readonly pause?: (attempt: number) => Promise<void>;
}

export interface RegisterOptions {
  readonly namespace: string;
  readonly force: boolean;
}

/** Somebody else may write at the same time; then it is looked at anew. */
const attempts = 20;

/**
 * Creates or updates a workflow, whichever it takes. Of concurrent registrations of one version with different content
 * exactly one is written; the others get a conflict.
 */
export async function registerWorkflow(
  deps: RegisterDeps,
  workflow: Workflow,
  options: RegisterOptions,
): Promise<Registration> {
  const { namespace } = options;
  const { name } = workflow.metadata;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const existing = await findObject(deps.kube, workflows, { namespace, name });
    const plan = await planOver(deps, workflow, existing, options);
    if (plan.kind === 'unchanged') return plan;
    const object = await write(deps, plan);
    if (object !== undefined) return { ...plan, object };
    await deps.pause?.(attempt);
  }
  const message = `too many others write workflow '${workflowName(workflow.metadata)}' at the same time`;
  throw new AppError('unavailable', message, { reason: 'Contended' });
}

/** What to write over `existing`, whose content is stored where another version is about to take its place. */
async function planOver(
  { kube, keep }: RegisterDeps,
  workflow: Workflow,
  existing: Workflow | undefined,
  { namespace, force }: RegisterOptions,
): Promise<Registration> {
  if (existing === undefined) return planRegistration(workflow, namespace, { existing, stored: undefined, force });
  if (existing.metadata.deletionTimestamp !== undefined) throw beingDeleted(existing);
  const { version } = workflow.spec;
  // Read after the object: whatever stood there before was stored before it was written over.
  const stored = await contentOf(kube, existing, version);
  const plan = planRegistration(workflow, namespace, { existing, stored, force });
  if (plan.kind === 'updated' && existing.spec.version !== version) await keep?.(existing);
  return plan;
}

/** The object as it is now; undefined when somebody wrote in between. */
async function write({ kube, keep }: RegisterDeps, { kind, object }: Registration): Promise<Workflow | undefined> {
  try {
    const written = await (kind === 'created' ? kube.create(workflows, object) : kube.replace(workflows, object));
    // What is not stored now is stored by the controllers, or before another version takes its place.
    await keep?.(written, { isChecked: true }).catch(() => undefined);
    return written;
  } catch (error) {
    const isGone = kind === 'updated' && isNotFound(error);
    if (isGone || isConflict(error) || isAlreadyExists(error)) return undefined;
    throw error;
  }
}

async function contentOf(kube: RegisterDeps['kube'], existing: Workflow, version: string) {
  if (existing.spec.version === version) return existing.spec;
  const revision = await storedRevision(kube, existing, version);
  return revision && specOf(revision);
}

function beingDeleted({ metadata }: Workflow): AppError {
  const message = `workflow '${workflowName(metadata)}' is being deleted`;
  return new AppError('conflict', message, { reason: 'BeingDeleted' });
}

import type { Agent } from '../../crds/schema/agent.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { AppError } from '../errors.ts';
import { agents, workflows } from '../kinds.ts';
import { findObject, isAbsent, isAlreadyExists, isConflict, type KubeClient, type Resource } from '../kube/index.ts';
import { workflowName } from '../manifest/object-name.ts';
import type { KeepRevision } from './keep-revision.ts';
import { planRegistration, type Registration } from './plan-registration.ts';
import { storedRevision } from './stored-version.ts';
import { nounOf, type Versioned, wasAccepted } from './versioned.ts';

export interface RegisterDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'create' | 'replace'>;
  /**
   * For callers that may store revisions: then no version that was registered is lost, however fast the next one comes.
   */
  readonly keep?: KeepRevision;
  /** Waits before another attempt. Default: not at all. */
  readonly pause?: (attempt: number) => Promise<void>;
}

export interface RegisterOptions {
  readonly namespace: string;
  readonly force: boolean;
}

/** Another client may write at the same time; then the object is read anew. */
const attempts = 20;

/**
 * Creates or updates a workflow, whichever it takes. Among concurrent registrations of one version with different
 * content exactly one is written; the others get a conflict.
 */
export function registerWorkflow(
  deps: RegisterDeps,
  workflow: Workflow,
  options: RegisterOptions,
): Promise<Registration> {
  return register({ ...deps, resource: workflows }, workflow, options);
}

/** The same for an agent. */
export function registerAgent(
  deps: RegisterDeps,
  agent: Agent,
  options: RegisterOptions,
): Promise<Registration<Agent>> {
  return register({ ...deps, resource: agents }, agent, options);
}

interface KindDeps<V extends Versioned> extends RegisterDeps {
  readonly resource: Resource<V>;
}

async function register<V extends Versioned>(
  deps: KindDeps<V>,
  wanted: V,
  options: RegisterOptions,
): Promise<Registration<V>> {
  const { namespace } = options;
  const { name } = wanted.metadata;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const existing = await findObject(deps.kube, deps.resource, { namespace, name });
    const plan = await planOver(deps, wanted, existing, options);
    if (plan.kind === 'unchanged') return plan;
    const object = await write(deps, plan);
    if (object !== undefined) return { ...plan, object };
    await deps.pause?.(attempt);
  }
  const message = `too many others write ${nounOf(wanted)} '${workflowName(wanted.metadata)}' at the same time`;
  throw new AppError('unavailable', message, { reason: 'Contended' });
}

/** The write over `existing`, whose content is stored where another version is about to take its place. */
async function planOver<V extends Versioned>(
  { kube, keep }: RegisterDeps,
  wanted: V,
  existing: V | undefined,
  { namespace, force }: RegisterOptions,
): Promise<Registration<V>> {
  if (existing === undefined) return planRegistration(wanted, namespace, { existing, stored: undefined, force });
  if (existing.metadata.deletionTimestamp !== undefined) throw beingDeleted(existing);
  const { version } = wanted.spec;
  // Read after the object: whatever stood there before was stored before it was written over.
  const stored = await contentOf(kube, existing, version);
  const plan = planRegistration(wanted, namespace, { existing, stored, force });
  if (plan.kind === 'updated' && existing.spec.version !== version) await keep?.(existing);
  return plan;
}

/** The object as it is now; undefined when another client wrote in between. */
async function write<V extends Versioned>(
  { kube, keep, resource }: KindDeps<V>,
  { kind, object }: Registration<V>,
): Promise<V | undefined> {
  try {
    const written = await (kind === 'created' ? kube.create(resource, object) : kube.replace(resource, object));
    // The controllers store a content that is not stored now, or it is stored before another version takes its place.
    await keep?.(written, { isChecked: true }).catch(() => undefined);
    return written;
  } catch (error) {
    const isGone = kind === 'updated' && isAbsent(error);
    if (isGone || isConflict(error) || isAlreadyExists(error)) return undefined;
    throw error;
  }
}

async function contentOf<V extends Versioned>(
  kube: RegisterDeps['kube'],
  existing: V,
  version: string,
): Promise<V['spec'] | undefined> {
  if (existing.spec.version === version && wasAccepted(existing)) return existing.spec;
  const revision = await storedRevision(kube, existing, version);
  return (revision?.data as { readonly spec: V['spec'] } | undefined)?.spec;
}

function beingDeleted({ kind, metadata }: Versioned): AppError {
  const message = `${nounOf({ kind })} '${workflowName(metadata)}' is being deleted`;
  return new AppError('conflict', message, { reason: 'BeingDeleted' });
}

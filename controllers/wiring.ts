import { globalNamespace, labels } from '../crds/labels.ts';
import type { Volume } from '../crds/schema/volume.ts';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { formerIdsOf } from '../lib/catalogue/index.ts';
import { finished } from '../lib/execution/finished.ts';
import { type ControllerRevision, type KubeObject, keyOf, refOfKey } from '../lib/kube/index.ts';
import { workflowName } from '../lib/manifest/index.ts';
import { claimKeys, executionKey, type Informers, revisionKey, workflowKey } from './informers.ts';
import type { Controller } from './runtime/index.ts';
import { connectRouters } from './stimulus-router/wake.ts';
import { isDone } from './volume/release-claim.ts';

export interface Controllers {
  readonly workflows: Controller;
  readonly executions: Controller;
  readonly volumes: Controller;
  readonly routers: Controller;
}

/** Executions that wait for a workflow, by its name or uid, or for a volume, by its key. */
export interface Waiting {
  add(key: string, awaited: string): void;
  /** Takes out the executions that wait for one of these names, in one namespace or in any. */
  take(names: readonly string[], namespace?: string): readonly string[];
  /** The execution is gone, or nothing can bring it forward any more. */
  forget(key: string): void;
}

export function createWaiting(): Waiting {
  const keysOf = new Map<string, Set<string>>();
  const namesOf = new Map<string, Set<string>>();
  const unlink = (key: string, name: string): void => {
    remove(keysOf, name, key);
    remove(namesOf, key, name);
  };
  return {
    add(key, awaited) {
      keysOf.set(awaited, (keysOf.get(awaited) ?? new Set()).add(key));
      namesOf.set(key, (namesOf.get(key) ?? new Set()).add(awaited));
    },
    take(names, namespace) {
      const isTheirs = (key: string): boolean => namespace === undefined || refOfKey(key).namespace === namespace;
      return names.flatMap((name) => {
        const taken = [...(keysOf.get(name) ?? [])].filter(isTheirs);
        for (const key of taken) unlink(key, name);
        return taken;
      });
    },
    forget(key) {
      for (const name of namesOf.get(key) ?? []) unlink(key, name);
    },
  };
}

function remove(sets: Map<string, Set<string>>, at: string, member: string): void {
  const set = sets.get(at);
  set?.delete(member);
  if (set?.size === 0) sets.delete(at);
}

/** Which change of which object wakes whom. Only the name travels; what happened is read again (house style, "Level"). */
export function connect(informers: Informers, controllers: Controllers, waiting: Waiting): void {
  const { workflows, executions, volumes } = controllers;
  informers.workflows.onChange(({ key, before, after, own }) => {
    if (!own) workflows.queue.add(key);
    const workflow = after ?? before;
    if (workflow === undefined) return;
    const { name, uid = '', namespace } = workflow.metadata;
    const names = [workflowName(workflow.metadata), name, uid, ...formerIdsOf(workflow)];
    const place = namespace === globalNamespace ? undefined : namespace;
    for (const waiter of waiting.take(names, place)) executions.queue.add(waiter);
  });
  informers.executions.onChange(({ key, before, after, own }) => {
    if (!own || isUnseen(after)) executions.queue.add(key);
    if (hasEnded(after)) waiting.forget(key);
    const parent = parentKey(after ?? before);
    if (parent !== undefined) executions.queue.add(parent);
    const origin = before === undefined ? originKey(after) : undefined;
    if (origin !== undefined) executions.queue.add(origin);
  });
  informers.pods.onChange(({ before, after, own }) => {
    const pod = after ?? before;
    const key = pod === undefined ? undefined : executionKey(pod);
    if (key !== undefined && !own) executions.queue.add(key);
    for (const claim of after !== undefined && isDone(after) ? claimKeys(after) : []) {
      if (informers.claims.cache.get(claim)?.metadata.deletionTimestamp !== undefined) volumes.queue.add(claim);
    }
  });
  informers.volumes.onChange(({ key, before, after, own }) => {
    if (!own || isUnseen(after)) volumes.queue.add(key);
    const volume = after ?? before;
    const maker = informers.executions.cache.getByUid(volume?.metadata.labels?.[labels.executionUid] ?? '');
    if (maker !== undefined) executions.queue.add(keyOf(maker));
    for (const waiter of waiting.take([key])) executions.queue.add(waiter);
  });
  connectNamespaces(informers, executions);
  connectClaims(informers, volumes);
  connectRevisions(informers, workflows);
  connectRouters(informers, controllers.routers);
}

/**
 * One reconcile writes what another one must look at: a parent makes and cancels its children, an execution makes its
 * volumes. Such a write is our own and yet news to the reconcile of the object itself.
 */
function isUnseen(object: WorkflowExecution | Volume | undefined): boolean {
  return object !== undefined && object.status?.observedGeneration !== object.metadata.generation;
}

/**
 * A namespace that is being deleted wakes whatever holds a finalizer in it. Kubernetes begins to delete its content five
 * seconds later, in no particular order, and with the role binding goes our right to let go.
 */
function connectNamespaces({ tenants, executions, pods }: Informers, { queue }: Controller): void {
  tenants.onChange(({ after }) => {
    if (after?.metadata.deletionTimestamp === undefined) return;
    const isInside = ({ metadata }: KubeObject): boolean => metadata.namespace === after.metadata.name;
    const keys = [...pods.cache.values()].filter(isInside).map(executionKey);
    for (const key of [...keys, ...[...executions.cache.values()].filter(isInside).map(keyOf)]) {
      if (key !== undefined) queue.add(key);
    }
  });
}

/** A claim wakes the volume of its own name, and every volume that names it. */
function connectClaims({ claims, volumes }: Informers, { queue }: Controller): void {
  claims.onChange(({ key, own }) => {
    if (own) return;
    queue.add(key);
    for (const volume of volumes.cache.byIndex('claim', key)) queue.add(keyOf(volume));
  });
}

/** A revision without its workflow goes when nobody runs it any more: looked at when it is seen and when a run ends. */
function connectRevisions({ revisions, executions, workflows }: Informers, { queue }: Controller): void {
  const look = (revision: ControllerRevision | undefined): void => {
    const key = revision === undefined ? undefined : workflowKey(revision);
    if (key !== undefined && workflows.cache.get(key) === undefined) queue.add(key);
  };
  // The API stores content too, before it writes a newer version over it; the workflow's status is to list that.
  const lookUnlessListed = (revision: ControllerRevision): void => {
    const key = workflowKey(revision);
    if (key === undefined) return;
    const listed = workflows.cache.get(key)?.status?.versions ?? [];
    if (!listed.some((version) => version.revision === revision.metadata.name)) queue.add(key);
  };
  revisions.onChange(({ after, own }) => {
    if (own) look(after);
    else if (after !== undefined) lookUnlessListed(after);
  });
  executions.onChange(({ before, after }) => {
    const execution = after ?? before;
    const revision = execution && revisions.cache.get(revisionKey(execution) ?? '');
    if (hasEnded(after)) look(revision);
    // Of a version that was replaced by force it may have been the last that could be run again.
    if (after === undefined && revision !== undefined) lookUnlessListed(revision);
  });
}

const hasEnded = (execution: WorkflowExecution | undefined): boolean => execution === undefined || finished(execution);

function parentKey(execution: WorkflowExecution | undefined): string | undefined {
  const parent = execution?.spec.parent;
  return parent === undefined ? undefined : `${execution?.metadata.namespace}/${parent.name}`;
}

function originKey(execution: WorkflowExecution | undefined): string | undefined {
  const origin = execution?.spec.origin;
  return origin === undefined ? undefined : `${execution?.metadata.namespace}/${origin.name}`;
}

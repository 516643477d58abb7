import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { NewId } from '../../lib/ids.ts';
import {
  type createOwn,
  findObject,
  type KubeClient,
  type KubeObject,
  metadataOf,
  type Resource,
} from '../../lib/kube/index.ts';
import { nameBeside } from './engine/names.ts';

export interface CreateNamedDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'listAll'>;
  readonly newId: NewId;
  /** Makes an object whose name can be foreseen. */
  readonly own: typeof createOwn;
}

/** An object that an execution makes once. */
export interface Named<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly name: string;
  readonly build: (name: string) => T;
  readonly isOurs: (object: T) => boolean;
}

/** Names with so many random characters are not foreseen; the first one succeeds. */
const attempts = 3;

/**
 * Makes an object of an execution once. Its name can be foreseen: where an object of another owner has it, it gets a
 * name that cannot, unless it was made under such a name before. It carries the label `windlass.dev/parent-uid`.
 */
export async function createNamed<T extends KubeObject>(
  deps: CreateNamedDeps,
  parent: WorkflowExecution,
  wish: Named<T>,
): Promise<T | undefined> {
  const { resource, name, build, isOurs } = wish;
  const create = (as: string) => deps.own(deps.kube, resource, build(as), isOurs);
  let made = await create(name);
  if (made.kind === 'ours') return made.object;
  const known = await findNamed(deps, parent, wish);
  if (known !== undefined) return known;
  for (let attempt = 1; made.kind === 'foreign' && attempt <= attempts; attempt++) {
    made = await create(nameBeside(name, deps.newId()));
  }
  if (made.kind === 'foreign') throw new Error(`every name of ${name} is taken by another owner`);
  return made.object;
}

/** The object as the server has it, under its own name or beside one that is taken. */
export async function findMade<T extends KubeObject>(
  kube: Pick<KubeClient, 'get' | 'listAll'>,
  parent: WorkflowExecution,
  wish: Pick<Named<T>, 'resource' | 'name' | 'isOurs'>,
): Promise<T | undefined> {
  const { name, resource, isOurs } = wish;
  const there = await findObject(kube, resource, { name, namespace: parent.metadata.namespace });
  return there === undefined || isOurs(there) ? there : findNamed({ kube }, parent, wish);
}

/**
 * As the server has it; a watch may lag. Any user may write the label, on objects of any number and size. So only the
 * metadata of the list is read. Objects with a name that the object may have are read whole, one at a time.
 */
async function findNamed<T extends KubeObject>(
  { kube }: { readonly kube: Pick<KubeClient, 'get' | 'listAll'> },
  { metadata: { namespace, uid = '' } }: WorkflowExecution,
  { resource, name: taken, isOurs }: Pick<Named<T>, 'resource' | 'name' | 'isOurs'>,
): Promise<T | undefined> {
  const labelSelector = `${labels.parentUid}=${uid}`;
  const { items } = await kube.listAll(metadataOf(resource), { namespace, labelSelector });
  const beside = nameBeside(taken, '');
  for (const { metadata } of items) {
    const { name = '' } = metadata;
    const found = name.startsWith(beside) ? await findObject(kube, resource, { namespace, name }) : undefined;
    if (found !== undefined && isOurs(found)) return found;
  }
  return undefined;
}

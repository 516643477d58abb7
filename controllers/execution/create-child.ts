import { apiVersion, labels } from '../../crds/labels.ts';
import type { WorkflowExecution, WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import { buildExecution } from '../../lib/execution/build-execution.ts';
import type { NewId } from '../../lib/ids.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { type createOwn, findObject, type KubeClient, metadataOf } from '../../lib/kube/index.ts';
import { inheritedLink } from './engine/links.ts';
import { nameBeside } from './engine/names.ts';

interface CreateChildDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'listAll'>;
  readonly newId: NewId;
  /** Makes an object whose name can be foreseen. */
  readonly own: typeof createOwn;
}

interface Child {
  readonly name: string;
  readonly spec: WorkflowExecutionSpec;
  /** Whether it goes with its parent. */
  readonly owned: boolean;
}

/** Names with so many random characters are not foreseen; the first one succeeds. */
const attempts = 3;

/**
 * The child of one visit of a state, made once. Its name can be foreseen: where somebody else's execution has it, the
 * child gets one that cannot, unless it was made under such a name before. Only the controllers write `spec.parent`.
 */
export async function createChild(
  deps: CreateChildDeps,
  parent: WorkflowExecution,
  { name, spec, owned }: Child,
): Promise<WorkflowExecution | undefined> {
  const isOurs = ({ spec: { parent: of } }: WorkflowExecution): boolean =>
    of?.uid === parent.metadata.uid && of?.state === spec.parent?.state && of?.visit === spec.parent?.visit;
  const create = (as: string) =>
    deps.own(deps.kube, workflowExecutions, childObject(parent, { name: as, spec, owned }), isOurs);
  let made = await create(name);
  if (made.kind === 'ours') return made.object;
  const known = await findChild(deps, parent, { name, isOurs });
  if (known !== undefined) return known;
  for (let attempt = 1; made.kind === 'foreign' && attempt <= attempts; attempt++) {
    made = await create(nameBeside(name, deps.newId()));
  }
  if (made.kind === 'foreign') throw new Error(`every name of the child ${name} is taken by somebody else`);
  return made.object;
}

interface Wanted {
  /** The name that somebody else has. */
  readonly name: string;
  readonly isOurs: (child: WorkflowExecution) => boolean;
}

/**
 * As the server has it; a watch may lag. The label is anybody's to write, on executions of any number and size: of the
 * list only the metadata is read, and whole one at a time those with a name that the child may have.
 */
async function findChild(
  { kube }: CreateChildDeps,
  { metadata: { namespace, uid = '' } }: WorkflowExecution,
  { name: taken, isOurs }: Wanted,
): Promise<WorkflowExecution | undefined> {
  const labelSelector = `${labels.parentUid}=${uid}`;
  const { items } = await kube.listAll(metadataOf(workflowExecutions), { namespace, labelSelector });
  const beside = nameBeside(taken, '');
  for (const { metadata } of items) {
    const { name = '' } = metadata;
    const found = name.startsWith(beside) ? await findObject(kube, workflowExecutions, { namespace, name }) : undefined;
    if (found !== undefined && isOurs(found)) return found;
  }
  return undefined;
}

function childObject(parent: WorkflowExecution, { name, spec, owned }: Child): WorkflowExecution {
  const { metadata } = parent;
  const owner = {
    apiVersion,
    kind: 'WorkflowExecution',
    name: metadata.name,
    uid: metadata.uid ?? '',
    controller: true,
  };
  const { workflow: reference, version, ...fields } = spec;
  return buildExecution({
    name,
    namespace: metadata.namespace,
    workflow: { reference, version },
    spec: fields,
    labels: { [labels.parentUid]: metadata.uid ?? '', [labels.managedBy]: 'windlass' },
    annotations: inheritedLink(parent),
    owner: owned ? owner : undefined,
  });
}

import { labels } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { workflowIndexes } from '../../lib/workflow-lookup/index.ts';
import { namesIn } from '../../lib/definition/check-named.ts';
import { heapBytes } from '../../lib/heap-bytes.ts';
import { createInformer, createWholeObjects, type Informer } from '../../lib/informer/index.ts';
import { slimMetadata } from '../../lib/informer/slim-metadata.ts';
import { workflows } from '../../lib/kinds.ts';
import { type ControllerRevision, controllerRevisions } from '../../lib/kube/index.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { revisionSubject, type VersionedKind } from '../../lib/registration/index.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { withSpec } from '../runtime/with-spec.ts';

const ours = `${labels.managedBy}=windlass`;

/** Bytes of heap for whole versions, by kind: those used last spare a request. */
const keptBytes = { revisions: bytesOf('whole revisions'), workflows: bytesOf('whole workflows') } as const;

export const workflowInformer: InformerSpec<Informer<Workflow, keyof typeof workflowIndexes | 'names'>> = {
  name: 'workflows',
  kind: 'Workflow',
  open: (deps) =>
    createInformer(deps, {
      resource: workflows,
      parse: withSpec,
      wholes: createWholeObjects({
        kube: deps.kube,
        clock: deps.clock,
        resource: workflows,
        slim: slimWorkflow,
        isWhole: ({ spec }) => Object.keys(spec.states).length > 0,
        keptBytes: keptBytes.workflows,
      }),
      // A large definition has no states here: nothing wakes it, and its status warns of no name.
      indexes: { ...workflowIndexes, names: ({ spec }) => namesIn(spec).map(({ kind, name }) => `${kind}/${name}`) },
    }),
};

type RevisionIndex = 'workflowUid' | 'workflowKey' | 'agentUid' | 'agentKey';

export const revisionInformer: InformerSpec<Informer<ControllerRevision, RevisionIndex>> = {
  name: 'revisions',
  kind: 'ControllerRevision',
  open: (deps) =>
    createInformer(deps, {
      resource: controllerRevisions,
      labelSelector: ours,
      wholes: createWholeObjects({
        kube: deps.kube,
        clock: deps.clock,
        resource: controllerRevisions,
        slim: slimRevision,
        isWhole: ({ data }) => data !== undefined,
        keptBytes: keptBytes.revisions,
      }),
      indexes: {
        workflowUid: (revision) => idsOf(uidKey(revision, 'Workflow')),
        workflowKey: (revision) => idsOf(workflowKey(revision)),
        agentUid: (revision) => idsOf(uidKey(revision, 'Agent')),
        agentKey: (revision) => idsOf(agentKey(revision)),
      },
    }),
};

const idsOf = (id: string | undefined): string[] => (id === undefined ? [] : [id]);

/** `namespace/name` of the workflow of a revision; undefined for one of an agent, or that Windlass has not stored. */
export const workflowKey = (revision: ControllerRevision): string | undefined => nameKey(revision, 'Workflow');
/** The same for an agent. */
export const agentKey = (revision: ControllerRevision): string | undefined => nameKey(revision, 'Agent');

function nameKey(revision: ControllerRevision, kind: VersionedKind): string | undefined {
  const subject = revisionSubject(revision);
  return subject?.kind === kind ? `${revision.metadata.namespace}/${subject.name}` : undefined;
}

/** `namespace/uid` of the object of a revision: the uid alone would take in the revisions of other namespaces. */
function uidKey(revision: ControllerRevision, kind: VersionedKind): string | undefined {
  const subject = revisionSubject(revision);
  return subject?.kind === kind ? `${revision.metadata.namespace}/${subject.uid}` : undefined;
}

/** A definition of less than this stays in the cache: most are, and every reconcile needs one. */
const smallBytes = 16 * 1024;
const isSmall = (object: object): boolean => heapBytes(object, smallBytes) < smallBytes;

/** Everything of a revision but its content wakes a controller or is compared. */
export function slimRevision(object: ControllerRevision): ControllerRevision {
  if (isSmall(object)) return object;
  const { metadata, revision } = object;
  return { metadata: slimMetadata(metadata), revision };
}

/** Versions that stay in the cache; older ones are looked up by their label. */
const versionsKept = 20;

/** A start needs the name, the verdict and the revision; the revision holds the definition. */
export function slimWorkflow(workflow: Workflow): Workflow {
  if (isSmall(workflow)) return workflow;
  const { apiVersion, kind, metadata, spec, status } = workflow;
  const { version, initial_state: initialState } = spec;
  const versions = status?.versions?.slice(0, versionsKept);
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec: { version, initial_state: initialState, states: {} },
    ...(status === undefined ? {} : { status: versions === undefined ? status : { ...status, versions } }),
  };
}

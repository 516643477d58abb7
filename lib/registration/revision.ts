import { annotations, labels } from '../../crds/labels.ts';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import { nobody, ownerOf } from '../catalogue/scope.ts';
import { canonicalHash } from '../definition/canonical.ts';
import { shortHash } from '../ids.ts';
import type { ControllerRevision } from '../kube/index.ts';

/** The same content of the same workflow always has the same name, whoever stores it. */
export function revisionName({ metadata }: Pick<Workflow, 'metadata'>, specHash: string): string {
  return `${metadata.name}-${shortHash(`${metadata.uid}/${specHash}`, 10)}`;
}

/** The immutable copy of a workflow's content (design §4). A later generation has a higher number. */
export function revisionOf(workflow: Workflow, specHash = canonicalHash(workflow.spec)): ControllerRevision {
  const { metadata, spec } = workflow;
  const owner = ownerOf(workflow);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: revisionName(workflow, specHash),
      namespace: metadata.namespace,
      labels: {
        [labels.workflow]: metadata.name,
        [labels.workflowUid]: metadata.uid ?? '',
        [labels.version]: versionLabel(spec.version),
        [labels.managedBy]: 'windlass',
        ...(owner === undefined || owner === nobody ? {} : { [labels.user]: owner }),
      },
      annotations: { [annotations.specHash]: specHash, [annotations.version]: spec.version },
    },
    data: { spec },
    revision: metadata.generation ?? 1,
  };
}

/** Selects the revisions of a workflow, or those of one version of it: several where it was replaced by force. */
export function revisionSelector(workflowUid: string, version?: string): string {
  const own = `${labels.workflowUid}=${workflowUid}`;
  return version === undefined ? own : `${own},${labels.version}=${versionLabel(version)}`;
}

/**
 * Whether a revision is one that Windlass stores. Anybody's DaemonSet makes revisions with the labels of its pods, so a
 * label proves nothing: ours have no controller, and a name that follows from workflow, uid and content.
 */
export function isStored({ metadata }: Pick<ControllerRevision, 'metadata'>): boolean {
  const { [labels.workflow]: name, [labels.workflowUid]: uid } = metadata.labels ?? {};
  const specHash = metadata.annotations?.[annotations.specHash];
  if (name === undefined || uid === undefined || specHash === undefined) return false;
  if (metadata.ownerReferences?.some(({ controller }) => controller === true)) return false;
  return metadata.name === revisionName({ metadata: { name, uid } }, specHash);
}

/** Whether a revision is one that was stored of this workflow: beside it, and with its uid. */
export function isRevisionOf(workflow: Pick<Workflow, 'metadata'>, revision: ControllerRevision): boolean {
  const { namespace, labels: given } = revision.metadata;
  const { name, uid } = workflow.metadata;
  const isNamed = given?.[labels.workflow] === name && given?.[labels.workflowUid] === uid;
  return isNamed && namespace === workflow.metadata.namespace && isStored(revision);
}

/** Whether it holds the content that its name was made of. Objects never change, so one is hashed once. */
export function holdsItsContent(revision: ControllerRevision): boolean {
  const known = verdicts.get(revision);
  if (known !== undefined) return known;
  const { spec } = revision.data as { readonly spec?: unknown };
  const verdict = spec !== undefined && canonicalHash(spec) === revision.metadata.annotations?.[annotations.specHash];
  verdicts.set(revision, verdict);
  return verdict;
}

const verdicts = new WeakMap<ControllerRevision, boolean>();

export function specOf({ data }: ControllerRevision): WorkflowSpec {
  return (data as { readonly spec: WorkflowSpec }).spec;
}

/** When the content was registered first, RFC 3339. */
export function registeredAt({ metadata }: Pick<ControllerRevision, 'metadata'>): string {
  return metadata.annotations?.[annotations.registeredAt] ?? metadata.creationTimestamp ?? '';
}

/** A version may hold characters that a label may not. */
function versionLabel(version: string): string {
  return shortHash(version, 32);
}

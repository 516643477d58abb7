import { annotations, labels } from '../../crds/labels.ts';
import type { AgentSpec } from '../../crds/schema/agent.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import { noUser, workflowUser } from '../workflow-lookup/scope.ts';
import { canonicalHash } from '../definition/canonical.ts';
import { shortHash } from '../ids.ts';
import type { ControllerRevision } from '../kube/index.ts';
import { definitionLevels, isTooDeep } from '../nesting.ts';
import { revisionLabels, type Versioned, type VersionedKind } from './versioned.ts';

/** The same content of the same object always has the same name, whichever process stores it. */
export function revisionName({ metadata }: Pick<Versioned, 'metadata'>, specHash: string): string {
  return `${metadata.name}-${shortHash(`${metadata.uid}/${specHash}`, 10)}`;
}

/** The immutable copy of an object's content (design §4). A later generation has a higher number. */
export function revisionOf(versioned: Versioned, specHash = canonicalHash(versioned.spec)): ControllerRevision {
  const { kind, metadata, spec } = versioned;
  const owner = kind === 'Workflow' ? workflowUser(versioned) : undefined;
  const naming = revisionLabels[kind];
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: revisionName(versioned, specHash),
      namespace: metadata.namespace,
      labels: {
        [naming.name]: metadata.name,
        [naming.uid]: metadata.uid ?? '',
        [labels.version]: versionLabel(spec.version),
        [labels.managedBy]: 'windlass',
        ...(owner === undefined || owner === noUser ? {} : { [labels.user]: owner }),
      },
      annotations: { [annotations.specHash]: specHash, [annotations.version]: spec.version },
    },
    data: { spec },
    revision: metadata.generation ?? 1,
  };
}

/** Selects the revisions of an object, or those of one version of it: several where it was replaced by force. */
export function revisionSelector({ kind, metadata }: Pick<Versioned, 'kind' | 'metadata'>, version?: string): string {
  const own = `${revisionLabels[kind].uid}=${metadata.uid ?? ''}`;
  return version === undefined ? own : `${own},${labels.version}=${versionLabel(version)}`;
}

/**
 * Whether a revision is one that Windlass stores. Every DaemonSet makes revisions with the labels of its pods, so a
 * label proves nothing: ours have no controller, and a name that follows from object, uid and content.
 */
export function isStored(revision: Pick<ControllerRevision, 'metadata'>): boolean {
  return revisionSubject(revision) !== undefined;
}

/** The object that a revision was stored of. */
interface RevisionSubject {
  readonly kind: VersionedKind;
  readonly name: string;
  readonly uid: string;
}

/** Which object a revision was stored of; undefined for one that Windlass has not stored. */
export function revisionSubject({ metadata }: Pick<ControllerRevision, 'metadata'>): RevisionSubject | undefined {
  const specHash = metadata.annotations?.[annotations.specHash];
  if (specHash === undefined || metadata.ownerReferences?.some(({ controller }) => controller === true)) {
    return undefined;
  }
  for (const kind of versionedKinds) {
    const { [revisionLabels[kind].name]: name, [revisionLabels[kind].uid]: uid } = metadata.labels ?? {};
    if (name === undefined || uid === undefined) continue;
    if (metadata.name === revisionName({ metadata: { name, uid } }, specHash)) return { kind, name, uid };
  }
  return undefined;
}

const versionedKinds = ['Workflow', 'Agent'] as const;

/** Whether a revision is one that was stored of this object: beside it, and with its uid. */
export function isRevisionOf({ metadata }: Pick<Versioned, 'metadata'>, revision: ControllerRevision): boolean {
  const subject = revisionSubject(revision);
  const isNamed = subject?.name === metadata.name && subject.uid === metadata.uid;
  return isNamed && revision.metadata.namespace === metadata.namespace;
}

/**
 * Whether it holds the content that its name was made of. Objects never change, so one is hashed once. A stranger's may be
 * nested too deep to be hashed.
 */
export function holdsItsContent(revision: ControllerRevision): boolean {
  const known = verdicts.get(revision);
  if (known !== undefined) return known;
  const { spec } = revision.data as { readonly spec?: unknown };
  const isOurs = spec !== undefined && !isTooDeep(spec, definitionLevels);
  const verdict = isOurs && canonicalHash(spec) === revision.metadata.annotations?.[annotations.specHash];
  verdicts.set(revision, verdict);
  return verdict;
}

const verdicts = new WeakMap<ControllerRevision, boolean>();

export function specOf({ data }: ControllerRevision): WorkflowSpec {
  return (data as { readonly spec: WorkflowSpec }).spec;
}

export function agentSpecOf({ data }: ControllerRevision): AgentSpec {
  return (data as { readonly spec: AgentSpec }).spec;
}

/** The version that its content says, of whatever kind it is. */
export function versionOf({ data }: ControllerRevision): string {
  return (data as { readonly spec: { readonly version: string } }).spec.version;
}

/** When the content was registered first, RFC 3339. */
export function registeredAt({ metadata }: Pick<ControllerRevision, 'metadata'>): string {
  return metadata.annotations?.[annotations.registeredAt] ?? metadata.creationTimestamp ?? '';
}

/** A version may hold characters that a label may not. */
function versionLabel(version: string): string {
  return shortHash(version, 32);
}

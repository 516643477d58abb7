import { annotations, labels } from '../../crds/labels.ts';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import { ownerOf } from '../catalogue/index.ts';
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
        ...(owner === undefined ? {} : { [labels.user]: owner }),
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

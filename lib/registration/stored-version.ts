import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import { AppError } from '../errors.ts';
import {
  type ControllerRevision,
  controllerRevisions,
  findObject,
  isForbidden,
  type KubeClient,
} from '../kube/index.ts';
import { workflowName } from '../manifest/object-name.ts';
import { holdsItsContent, isRevisionOf, revisionSelector, specOf } from './revision.ts';

export type RevisionReader = Pick<KubeClient, 'get' | 'list'>;

/**
 * The spec of one stored version, by default the newest. Throws a not-found error that lists the versions there are.
 */
export async function specOfVersion(
  kube: RevisionReader,
  workflow: Workflow,
  version: string | undefined,
): Promise<WorkflowSpec> {
  if (version === undefined || version === workflow.spec.version) return workflow.spec;
  const revision = await storedRevision(kube, workflow, version);
  if (revision === undefined) throw noSuchVersion(workflow, version);
  return specOf(revision);
}

/** What is stored under a version: of several, which force has made, the last. */
export async function storedRevision(
  kube: RevisionReader,
  workflow: Workflow,
  version: string,
): Promise<ControllerRevision | undefined> {
  const { namespace, uid = '' } = workflow.metadata;
  const listed = await allOf(kube, namespace, revisionSelector(uid, version));
  // The label is anybody's to write; the version stands in the content.
  const stored = listed.filter((revision) => isContentOf(workflow, revision, version));
  const [last] = stored.toSorted((a, b) => b.revision - a.revision);
  return last ?? listedRevision(kube, workflow, version);
}

async function allOf(
  kube: RevisionReader,
  namespace: string | undefined,
  labelSelector: string,
): Promise<readonly ControllerRevision[]> {
  try {
    return (await kube.list(controllerRevisions, { namespace, labelSelector })).items;
  } catch (error) {
    // Not everybody who may read workflows may list revisions; the status names those that the controllers know.
    if (isForbidden(error)) return [];
    throw error;
  }
}

/** The one that the status names, for those who may read it and list none. */
async function listedRevision(
  kube: RevisionReader,
  workflow: Workflow,
  version: string,
): Promise<ControllerRevision | undefined> {
  const { metadata, status } = workflow;
  const row = status?.versions?.find((candidate) => candidate.version === version);
  if (row === undefined) return undefined;
  const found = await findObject(kube, controllerRevisions, { namespace: metadata.namespace, name: row.revision });
  return found !== undefined && isContentOf(workflow, found, version) ? found : undefined;
}

/** Whether a revision holds that version of the workflow, as it was stored. */
export function isContentOf(workflow: Workflow, revision: ControllerRevision, version: string): boolean {
  return isRevisionOf(workflow, revision) && holdsItsContent(revision) && specOf(revision).version === version;
}

function noSuchVersion({ metadata, spec, status }: Workflow, version: string): AppError {
  const known = status?.versions?.map((row) => row.version).join(', ') || spec.version;
  const message = `workflow '${workflowName(metadata)}' has no version ${version}. It has: ${known}.`;
  return new AppError('not_found', message, { reason: 'VersionNotFound' });
}

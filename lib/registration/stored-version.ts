import { setImmediate } from 'node:timers/promises';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import { AppError } from '../errors.ts';
import {
  type ControllerRevision,
  controllerRevisions,
  findObject,
  isForbidden,
  type KubeClient,
  listPages,
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

/** What is stored under a version: of several, which force has made, the last. No more than a page of them is in memory. */
export async function storedRevision(
  kube: RevisionReader,
  workflow: Workflow,
  version: string,
): Promise<ControllerRevision | undefined> {
  const { namespace, uid = '' } = workflow.metadata;
  const wanted = { namespace, labelSelector: revisionSelector(uid, version) };
  let last: ControllerRevision | undefined;
  try {
    for await (const revision of revisionsOf(kube, wanted)) {
      if (last !== undefined && last.revision >= revision.revision) continue;
      if (await isContentInTurn(workflow, revision, version)) last = revision;
    }
  } catch (error) {
    // Not everybody who may read workflows may list revisions; the status names those that the controllers know.
    if (!isForbidden(error)) throw error;
  }
  return last ?? listedRevision(kube, workflow, version);
}

async function* revisionsOf(
  kube: RevisionReader,
  wanted: { readonly namespace: string | undefined; readonly labelSelector: string },
): AsyncGenerator<ControllerRevision> {
  for await (const { items } of listPages((paged) => kube.list(controllerRevisions, paged), wanted)) yield* items;
}

/** The label is anybody's to write; the version stands in the content. Each content is hashed in a turn of its own. */
async function isContentInTurn(workflow: Workflow, revision: ControllerRevision, version: string): Promise<boolean> {
  if (!isRevisionOf(workflow, revision)) return false;
  await setImmediate();
  return isContentOf(workflow, revision, version);
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

import { setImmediate } from 'node:timers/promises';
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
import { holdsItsContent, isRevisionOf, revisionSelector, versionOf } from './revision.ts';
import { unreadable } from './unreadable.ts';
import { nounOf, type Versioned } from './versioned.ts';

export type RevisionReader = Pick<KubeClient, 'get' | 'list'>;

/**
 * The spec of one stored version, by default the newest. Throws a not-found error that lists the versions there are.
 */
export async function specOfVersion<V extends Versioned>(
  kube: RevisionReader,
  versioned: V,
  version: string | undefined,
): Promise<V['spec']> {
  if (version === undefined || version === versioned.spec.version) return versioned.spec;
  const revision = await storedRevision(kube, versioned, version);
  if (revision === undefined) throw noSuchVersion(versioned, version);
  return (revision.data as { readonly spec: V['spec'] }).spec;
}

/**
 * The stored content of a version: the last of several, which force has made. No more than a page of them is in memory.
 * @throws AppError `unavailable` where revisions may not be listed, and the status names none of the version.
 */
export async function storedRevision(
  kube: RevisionReader,
  versioned: Versioned,
  version: string,
): Promise<ControllerRevision | undefined> {
  const { namespace } = versioned.metadata;
  const wanted = { namespace, labelSelector: revisionSelector(versioned, version) };
  let last: ControllerRevision | undefined;
  try {
    for await (const revision of revisionsOf(kube, wanted)) {
      if (last !== undefined && last.revision >= revision.revision) continue;
      if (await isContentInTurn(versioned, revision, version)) last = revision;
    }
    return last ?? (await listedRevision(kube, versioned, version));
  } catch (error) {
    // Not everybody who may read workflows may list revisions; the status names those that the controllers know.
    const listed = isForbidden(error) ? await listedRevision(kube, versioned, version) : undefined;
    if (listed === undefined) throw unreadable(error);
    return listed;
  }
}

async function* revisionsOf(
  kube: RevisionReader,
  wanted: { readonly namespace: string | undefined; readonly labelSelector: string },
): AsyncGenerator<ControllerRevision> {
  for await (const { items } of listPages((paged) => kube.list(controllerRevisions, paged), wanted)) yield* items;
}

/** Any user may write the label; the content holds the version. Each content is hashed in a turn of its own. */
async function isContentInTurn(versioned: Versioned, revision: ControllerRevision, version: string): Promise<boolean> {
  if (!isRevisionOf(versioned, revision)) return false;
  await setImmediate();
  return isContentOf(versioned, revision, version);
}

/** The one that the status names, for those who may read it and list none. */
async function listedRevision(
  kube: RevisionReader,
  versioned: Versioned,
  version: string,
): Promise<ControllerRevision | undefined> {
  const { metadata, status } = versioned;
  const row = status?.versions?.find((candidate) => candidate.version === version);
  if (row === undefined) return undefined;
  const ref = { namespace: metadata.namespace, name: row.revision };
  const found = await findObject(kube, controllerRevisions, ref).catch((error: unknown) => {
    throw unreadable(error);
  });
  return found !== undefined && isContentOf(versioned, found, version) ? found : undefined;
}

/** Whether a revision holds that version of the object, as it was stored. */
export function isContentOf(versioned: Versioned, revision: ControllerRevision, version: string): boolean {
  return isRevisionOf(versioned, revision) && holdsItsContent(revision) && versionOf(revision) === version;
}

function noSuchVersion({ kind, metadata, spec, status }: Versioned, version: string): AppError {
  const known = status?.versions?.map((row) => row.version).join(', ') || spec.version;
  const message = `${nounOf({ kind })} '${workflowName(metadata)}' has no version ${version}. It has: ${known}.`;
  return new AppError('not_found', message, { reason: 'VersionNotFound' });
}

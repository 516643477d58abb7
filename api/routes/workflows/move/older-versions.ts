import { annotations } from '../../../../crds/labels.ts';
import type { Workflow } from '../../../../crds/schema/workflow.ts';
import { sameJson } from '../../../../lib/same-json.ts';
import { HttpError } from '../../../../lib/http/index.ts';
import {
  type ControllerRevision,
  controllerRevisions,
  createUnlessExists,
  type KubeClient,
} from '../../../../lib/kube/index.ts';
import {
  holdsItsContent,
  isRevisionOf,
  registeredAt,
  revisionOf,
  revisionSelector,
  specOf,
  storedRevision,
} from '../../../../lib/registration/index.ts';

type Reader = Pick<KubeClient, 'get' | 'list' | 'listAll'>;

/** Stored versions of a workflow besides the newest: each with its last content, the oldest first. */
export async function olderVersions(kube: Reader, workflow: Workflow): Promise<readonly ControllerRevision[]> {
  const { metadata, spec } = workflow;
  const selection = { namespace: metadata.namespace, labelSelector: revisionSelector(workflow) };
  const { items } = await kube.listAll(controllerRevisions, selection);
  const last = new Map(
    items
      .filter((revision) => isRevisionOf(workflow, revision) && holdsItsContent(revision))
      .toSorted((a, b) => a.revision - b.revision)
      .map((revision) => [specOf(revision).version, revision]),
  );
  last.delete(spec.version);
  return [...last.values()];
}

/** @throws HttpError 409 when a version is stored there with other content. */
export async function assertNoRival(
  kube: Reader,
  target: Workflow,
  revisions: readonly ControllerRevision[],
): Promise<void> {
  for (const revision of revisions) {
    const spec = specOf(revision);
    const rival = await storedRevision(kube, target, spec.version);
    if (rival === undefined || sameJson(specOf(rival), spec)) continue;
    throw new HttpError({ code: 'conflict', message: `version ${spec.version} exists there with other content` });
  }
}

/** Gives a workflow versions that another one had; they keep the time of their registration. */
export async function copyVersions(
  kube: Reader & Pick<KubeClient, 'create'>,
  target: Workflow,
  revisions: readonly ControllerRevision[],
): Promise<void> {
  for (const revision of revisions) {
    const spec = specOf(revision);
    if ((await storedRevision(kube, target, spec.version)) !== undefined) continue;
    const copy = revisionOf({ ...target, spec });
    const notes = { ...copy.metadata.annotations, [annotations.registeredAt]: registeredAt(revision) };
    await createUnlessExists(kube, controllerRevisions, {
      ...copy,
      metadata: { ...copy.metadata, annotations: notes },
      // Before every version that is registered from now on.
      revision: 0,
    });
  }
}

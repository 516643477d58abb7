import { annotations } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { canonicalHash } from '../definition/canonical.ts';
import { checkDefinition } from '../definition/check.ts';
import { controllerRevisions, isAlreadyExists, type KubeClient } from '../kube/index.ts';
import { revisionName, revisionOf } from './revision.ts';
import { storedRevision } from './stored-version.ts';

/** Stores the content that a workflow has now, so that another version can take its place without losing it. */
export type KeepRevision = (workflow: Workflow) => Promise<void>;

/**
 * Does what the workflow controller does when it sees the object, for content that may be gone before it looks. What
 * the controller would refuse is not stored: a definition with mistakes, or other content under a version that exists.
 */
export function createKeepRevision(kube: Pick<KubeClient, 'get' | 'list' | 'create'>): KeepRevision {
  return async (workflow) => {
    const { metadata, spec, status } = workflow;
    const specHash = canonicalHash(spec);
    const name = revisionName(workflow, specHash);
    if (status?.versions?.some(({ revision }) => revision === name)) return;
    if (checkDefinition(spec).some(({ severity }) => severity === 'error')) return;
    const forced = metadata.annotations?.[annotations.force] === 'true';
    const rival = forced ? undefined : await storedRevision(kube, workflow, spec.version);
    if (rival !== undefined) return;
    try {
      await kube.create(controllerRevisions, revisionOf(workflow, specHash));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };
}

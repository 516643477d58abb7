import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createCache } from '../../lib/informer/index.ts';
import { type ControllerRevision, KubeError } from '../../lib/kube/index.ts';
import { revisionOf } from '../../lib/registration/index.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { revisionKey } from '../execution/informer.ts';
import { workflowKey } from './informers.ts';
import { collectReplaced, collectRevisions } from '../definition/collect-revisions.ts';
import { workflowCollection } from './reconcile.ts';

function revision(uid: string): ControllerRevision {
  const { spec } = aWorkflow('demo').state('end', anEnd()).build();
  const metadata = { name: 'demo', namespace: 'default', uid };
  const made = revisionOf({ apiVersion: 'windlass.dev/v1', kind: 'Workflow', metadata, spec });
  return { ...made, metadata: { ...made.metadata, uid: 'r1', resourceVersion: '5' } };
}

/** A cache of one revision, one of executions, and a server that has a workflow or none; and what is deleted there. */
function world(madeBy: string, executions: readonly WorkflowExecution[], onServer?: string) {
  const revisions = createCache<ControllerRevision, 'workflowUid' | 'workflowKey'>({
    indexes: { workflowUid: () => [], workflowKey: (one) => [workflowKey(one) ?? ''] },
  });
  const runs = createCache<WorkflowExecution, 'revision' | 'workflow'>({
    indexes: { revision: (one) => [revisionKey(one) ?? ''], workflow: ({ spec }) => [spec.workflow] },
  });
  revisions.apply({ type: 'ADDED', object: revision(madeBy) });
  for (const object of executions) runs.apply({ type: 'ADDED', object });
  const deleted: string[] = [];
  const kube = {
    get: async () => {
      if (onServer !== undefined) return { metadata: { name: 'demo', uid: onServer, generation: 4 } } as never;
      throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'workflows' });
    },
    delete: async (_kind: unknown, { name }: { name: string }) => {
      deleted.push(name);
      return true;
    },
  };
  return { deps: workflowCollection({ kube, revisions, executions: runs }), deleted };
}

/** Names of what is deleted, with one revision of the workflow of `madeBy`, these executions and this workflow. */
async function collected(
  madeBy: string,
  executions: readonly WorkflowExecution[],
  present?: string,
  onServer = present,
): Promise<string[]> {
  const { deps, deleted } = world(madeBy, executions, onServer);
  await collectRevisions(deps, 'default/demo', present);
  return deleted;
}

/** The same where the revision holds what force has replaced, and the workflow was judged at this generation. */
async function collectedReplaced(executions: readonly WorkflowExecution[], generation = 4): Promise<string[]> {
  const { deps, deleted } = world('w1', executions, 'w1');
  const { spec } = aWorkflow('demo').state('end', anEnd()).build();
  const metadata = { name: 'demo', namespace: 'default', uid: 'w1', generation };
  const workflow: Workflow = { apiVersion: 'windlass.dev/v1', kind: 'Workflow', metadata, spec };
  await collectReplaced(deps, workflow, [revision('w1').metadata.name ?? '', 'none-of-the-cache']);
  return deleted;
}

describe('revisions', () => {
  const pin = { name: 'demo', namespace: 'default', uid: 'w1', version: '1.0.0' };
  const workflow = { ...pin, revision: revision('w1').metadata.name ?? '' };
  const running = anExecution().now({ state: 'a', kind: 'Human' }).status({ workflow }).build();
  const ended = anExecution().ended('completed', 3).build();
  const unseen = anExecution().build();

  it('of a workflow that is there stay', async () => {
    expect(await collected('w1', [], 'w1')).toEqual([]);
  });

  it('of a workflow that the cache does not know yet stay', async () => {
    expect(await collected('w1', [], undefined, 'w1')).toEqual([]);
    expect(await collected('w2', [], 'w1', 'w2')).toEqual([]);
  });

  it('of a workflow that is gone stay while an execution runs them, or may be about to', async () => {
    expect(await collected('w1', [running])).toEqual([]);
    expect(await collected('w1', [unseen])).toEqual([]);
  });

  it('of a workflow that is gone, or replaced by its namesake, are deleted when no execution runs them', async () => {
    expect(await collected('w1', [])).toEqual([revision('w1').metadata.name]);
    expect(await collected('w1', [ended])).toEqual([revision('w1').metadata.name]);
    expect(await collected('w1', [], 'w2')).toEqual([revision('w1').metadata.name]);
  });

  it('that force has replaced go when no execution is there that ran them', async () => {
    expect(await collectedReplaced([])).toEqual([revision('w1').metadata.name]);
  });

  it('that force has replaced stay while an execution runs them, ran them and can run again, or may be about to', async () => {
    const done = anExecution().ended('completed', 3).status({ workflow }).build();
    const byUid = anExecution().with({ workflow: 'w1' }).build();
    for (const execution of [running, done, unseen, byUid]) expect(await collectedReplaced([execution])).toEqual([]);
  });

  it('that force has replaced stay once the workflow has changed again', async () => {
    expect(await collectedReplaced([], 3)).toEqual([]);
  });
});

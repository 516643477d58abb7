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

function revision(uid: string, namespace = 'default'): ControllerRevision {
  const { spec } = aWorkflow('demo').state('end', anEnd()).build();
  const metadata = { name: 'demo', namespace, uid };
  const made = revisionOf({ apiVersion: 'windlass.dev/v1', kind: 'Workflow', metadata, spec });
  return { ...made, metadata: { ...made.metadata, uid: 'r1', resourceVersion: '5' } };
}

interface Server {
  /** Uid of the workflow. */
  readonly uid?: string | undefined;
  readonly executions?: readonly WorkflowExecution[];
}

/** A cache of one revision, one of executions, and a server that has a workflow or none; and what is deleted there. */
function world(madeBy: string, executions: readonly WorkflowExecution[], server: Server, namespace = 'default') {
  const revisions = createCache<ControllerRevision, 'workflowUid' | 'workflowKey'>({
    indexes: { workflowUid: () => [], workflowKey: (one) => [workflowKey(one) ?? ''] },
  });
  const runs = createCache<WorkflowExecution, 'revision' | 'workflow'>({
    indexes: { revision: (one) => [revisionKey(one) ?? ''], workflow: ({ spec }) => [spec.workflow] },
  });
  revisions.apply({ type: 'ADDED', object: revision(madeBy, namespace) });
  for (const object of executions) runs.apply({ type: 'ADDED', object });
  const deleted: string[] = [];
  const asked: string[] = [];
  const there = server.executions ?? executions;
  const absent = () => new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
  const kube = {
    get: async ({ kind }: { kind: string }, { name }: { name: string }) => {
      asked.push(`get ${kind}`);
      const execution = there.find(({ metadata }) => metadata.name === name);
      if (kind === 'WorkflowExecution' && execution !== undefined) return execution as never;
      if (kind !== 'Workflow' || server.uid === undefined) throw absent();
      return { metadata: { name: 'demo', uid: server.uid, generation: 4 } } as never;
    },
    list: async ({ kind }: { kind: string }, options: { namespace?: string } = {}) => {
      asked.push(`list ${kind} ${options.namespace}`);
      const items = there.filter(({ metadata }) => (options.namespace ?? metadata.namespace) === metadata.namespace);
      return { metadata: {}, items: items.map(({ metadata }) => ({ metadata })) } as never;
    },
    delete: async (_kind: unknown, { name }: { name: string }) => {
      deleted.push(name);
      return true;
    },
  };
  return { deps: workflowCollection({ kube, revisions, executions: runs }), deleted, asked };
}

/** Names of what is deleted, with one revision of the workflow of `madeBy`, these executions and this workflow. */
async function collected(
  madeBy: string,
  executions: readonly WorkflowExecution[],
  present?: string,
  onServer = present,
): Promise<string[]> {
  const { deps, deleted } = world(madeBy, executions, { uid: onServer });
  await collectRevisions(deps, 'default/demo', present);
  return deleted;
}

/** The same where the revision holds what force has replaced, and the workflow was judged at this generation. */
async function collectedReplaced(
  executions: readonly WorkflowExecution[],
  generation = 4,
  server: Server = {},
): Promise<string[]> {
  const { deps, deleted } = world('w1', executions, { uid: 'w1', ...server });
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

  describe('of which the cache of executions is behind', () => {
    const at = (resourceVersion: string, execution: WorkflowExecution): WorkflowExecution => ({
      ...execution,
      metadata: { ...execution.metadata, resourceVersion },
    });
    const done = anExecution().ended('completed', 3).status({ workflow }).build();

    it.each([
      ['lacks one that runs it', [], running],
      ['lacks one that is about to run it', [], unseen],
      ['lacks one that is about to run it, by uid', [], anExecution().with({ workflow: 'w1' }).build()],
      ['has one as it ended before it ran again', [at('3', done)], at('4', running)],
    ])('D8 stays where the cache %s', async (_title, cached, live) => {
      const { deps, deleted } = world('w1', cached, { executions: [live] });
      await collectRevisions(deps, 'default/demo', undefined);
      expect(deleted).toEqual([]);
      expect(await collectedReplaced([], 4, { executions: [live] })).toEqual([]);
    });

    it('D8 stays where it is content that force replaced, and the cache lacks one that ran it and can run again', async () => {
      expect(await collectedReplaced([], 4, { executions: [done] })).toEqual([]);
    });

    it('D8 stays where it is global, and the cache lacks an execution of another namespace', async () => {
      const own = revision('w1', 'windlass-global').metadata.name ?? '';
      const pinned = { ...pin, namespace: 'windlass-global', revision: own };
      const live = anExecution().now({ state: 'a', kind: 'Human' }).status({ workflow: pinned }).build();
      const { deps, deleted } = world('w1', [], { executions: [live] }, 'windlass-global');
      await collectRevisions(deps, 'windlass-global/demo', undefined);
      expect(deleted).toEqual([]);
    });

    it('D8 costs one list of metadata, and reads no execution that the cache has as the server has it', async () => {
      const cached = at('7', ended);
      const { deps, deleted, asked } = world('w1', [cached], { executions: [at('6', ended)] });
      await Promise.all([1, 2, 3].map(() => collectRevisions(deps, 'default/demo', undefined)));
      expect(deleted).toHaveLength(3);
      expect(asked.filter((one) => one.includes('WorkflowExecution')).length).toBeLessThanOrEqual(2);
    });

    it('D8 asks for no execution where there is nothing to delete', async () => {
      const { deps, asked } = world('w1', [running], {});
      await collectRevisions(deps, 'default/demo', undefined);
      const kept = world('w1', [], { uid: 'w1' });
      await collectRevisions(kept.deps, 'default/demo', undefined);
      expect([...asked, ...kept.asked]).toEqual(['get Workflow']);
    });
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { Workflow } from '../../../../crds/schema/workflow.ts';
import type { ControllerRevision } from '../../../../lib/kube/index.ts';
import { revisionOf } from '../../../../lib/registration/index.ts';
import { fleetScope } from '../../../../lib/tools/fleet-rights.ts';
import { anEnd, aWorkflow } from '../../../../test/builders/workflow-builder.ts';
import { moveWorkflow } from './move-workflow.ts';

const versionOf = (version: string, tool: string): Workflow => {
  const state = { kind: 'System' as const, command: 'call_tool', env: { tool }, transitions: [] };
  const built = aWorkflow('demo').with({ version }).state('call', state).state('end', anEnd()).build();
  return { ...built, metadata: { name: 'demo', namespace: 'tenant-acme', uid: 'u1', resourceVersion: '7' } };
};

let written: string[];
beforeEach(() => {
  written = [];
});

/** Promotes the workflow, whose newest and older version call these tools, to the global scope. */
async function promote(newest: string, older: string, scopes: readonly string[]): Promise<unknown> {
  const source = versionOf('2.0.0', newest);
  const revisions: ControllerRevision[] = [revisionOf(versionOf('1.0.0', older)), revisionOf(source)];
  const kube = {
    get: async (_: unknown, { namespace }: { readonly namespace: string }) =>
      namespace === 'tenant-acme' ? source : undefined,
    list: async () => ({ metadata: {}, items: [] }),
    listAll: async () => ({ items: revisions }),
    create: async (_: unknown, object: ControllerRevision) => void written.push(object.metadata.name ?? ''),
    delete: async () => undefined,
  };
  const write = async (object: Workflow) => {
    written.push(object.metadata.name ?? '');
    return { object: { ...object, metadata: { ...object.metadata, uid: 'u2' } } };
  };
  const cluster = { tenants: {}, workflows: { forgotten: async () => undefined } };
  const move = { scope: 'global' as const, viewer: { tenant: 'acme', subject: 'ada' }, force: true, scopes };
  return moveWorkflow({ kube, write, cluster } as never, source, move as never);
}

describe('a promotion of a workflow', () => {
  it.each([
    ['its newest version calls', 'svc.edge.fleet.invoke', 'web.fetch'],
    ['an older version alone calls', 'web.fetch', 'svc.edge.fleet.invoke'],
  ])('needs the right to tools of hosts that %s', async (_which, newest, older) => {
    await expect(promote(newest, older, [])).rejects.toThrow(fleetScope);
    expect(written).toEqual([]);
    await promote(newest, older, [fleetScope]);
    expect(written).toHaveLength(2);
  });

  it('needs no such right where no version calls them', async () => {
    await promote('web.fetch', 'web.search', []);
    expect(written).toHaveLength(2);
  });
});

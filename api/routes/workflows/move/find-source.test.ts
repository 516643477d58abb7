import { describe, expect, it } from 'vitest';
import { annotations, globalNamespace, labels } from '../../../../crds/labels.ts';
import type { Workflow } from '../../../../crds/schema/workflow.ts';
import { type WorkflowScope, scopeOf } from '../../../../lib/workflow-lookup/index.ts';
import { userObjectName } from '../../../../lib/manifest/index.ts';
import { anEnd, aWorkflow } from '../../../../test/builders/workflow-builder.ts';
import { findSource } from './find-source.ts';

const viewer = { subject: 'ada', tenant: 'acme' };

function standing(scope: WorkflowScope): Workflow {
  const isUsers = scope === 'user';
  return {
    ...aWorkflow('build').state('end', anEnd()).build(),
    metadata: {
      name: isUsers ? userObjectName('ada', 'build') : 'build',
      namespace: scope === 'global' ? globalNamespace : 'tenant-acme',
      ...(isUsers ? { labels: { [labels.user]: 'ada' }, annotations: { [annotations.name]: 'build' } } : {}),
    },
  };
}

/** The scope that the workflow is taken from, where it exists in these. */
async function source(
  there: readonly WorkflowScope[],
  direction: 'promote' | 'demote',
  scope: WorkflowScope,
): Promise<string> {
  const workflows = {
    find: async (_viewer: unknown, _name: string, wanted?: WorkflowScope) => {
      const found = wanted === undefined ? there[0] : there.find((candidate) => candidate === wanted);
      return found && standing(found);
    },
  };
  const found = findSource(workflows, viewer, { nameOrUid: 'build', direction, scope });
  return found.then(scopeOf, (error: Error) => error.message);
}

describe('the workflow that moves', () => {
  it.each<[direction: 'promote' | 'demote', scope: WorkflowScope, there: WorkflowScope[], want: string]>([
    ['promote', 'global', ['tenant'], 'tenant'],
    ['promote', 'global', ['user'], 'user'],
    ['promote', 'global', ['user', 'tenant', 'global'], 'tenant'],
    ['promote', 'global', ['global'], 'global'],
    ['promote', 'tenant', ['user', 'tenant'], 'user'],
    ['promote', 'tenant', ['tenant'], 'tenant'],
    ['demote', 'tenant', ['global'], 'global'],
    ['demote', 'tenant', ['tenant', 'global'], 'global'],
    ['demote', 'user', ['tenant', 'global'], 'tenant'],
    ['demote', 'user', ['global'], 'global'],
    ['promote', 'tenant', ['global'], 'the workflow is in the scope global; demote it instead'],
    ['demote', 'tenant', ['user'], 'the workflow is in the scope user; promote it instead'],
    ['demote', 'tenant', [], 'Workflow not found'],
  ])('WF-API-13 to %s to %s is, of %j, %s', async (direction, scope, there, want) => {
    expect(await source(there, direction, scope)).toBe(want);
  });
});

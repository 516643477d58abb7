import { expect, it } from 'vitest';
import { globalNamespace } from '../../../crds/labels.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import type { KubernetesDeps } from './deps.ts';
import { createWorkflows } from './workflows.ts';

const judged = (name: string, observedGeneration: number): Workflow => {
  const built = aWorkflow(name).state('end', anEnd()).build();
  const lastTransitionTime = '2026-01-02T03:04:05Z';
  const ready = {
    type: 'Ready',
    status: 'False' as const,
    reason: 'InvalidDefinition',
    message: 'no',
    lastTransitionTime,
  };
  return {
    ...built,
    metadata: { ...built.metadata, namespace: 'team', generation: 2 },
    status: { conditions: [{ ...ready, observedGeneration }] },
  };
};

it('a list shows content without a verdict as unknown', async () => {
  const items = [judged('old', 1), judged('new', 2)];
  const deps = { kube: { listAll: async () => ({ metadata: {}, items }) }, namespace: 'team' };
  const rows = await createWorkflows(deps as unknown as KubernetesDeps).list({ everywhere: true });
  expect(rows.map(({ name, ready, message }) => [name, ready, message])).toEqual([
    ['old', 'Unknown', undefined],
    ['new', 'False', 'no'],
  ]);
});

it('a list is in the order in which the API lists, wherever its workflows are', async () => {
  const inNamespace = (name: string, namespace: string): Workflow => {
    const built = judged(name, 1);
    return { ...built, metadata: { ...built.metadata, namespace } };
  };
  const stored: Record<string, Workflow[]> = {
    team: [inNamespace('b', 'team'), inNamespace('d', 'team')],
    [globalNamespace]: ['a', 'b', 'c'].map((name) => inNamespace(name, globalNamespace)),
  };
  const listAll = async (_: unknown, { namespace }: { namespace: string }) => ({ items: stored[namespace] ?? [] });
  const deps = { kube: { listAll }, namespace: 'team' } as unknown as KubernetesDeps;
  const rows = await createWorkflows(deps).list({ everywhere: false });
  expect(rows.map(({ name, scope }) => `${name} ${scope}`)).toEqual([
    'a global',
    'b tenant',
    'b global',
    'c global',
    'd tenant',
  ]);
});

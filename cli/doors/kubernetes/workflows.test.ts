import { expect, it } from 'vitest';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import type { KubernetesDeps } from './kubernetes-door.ts';
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

it('a list says of content that nobody has judged yet that it is unknown', async () => {
  const items = [judged('old', 1), judged('new', 2)];
  const deps = { kube: { listAll: async () => ({ metadata: {}, items }) }, namespace: 'team' };
  const rows = await createWorkflows(deps as unknown as KubernetesDeps).list({ everywhere: true });
  expect(rows.map(({ name, ready, message }) => [name, ready, message])).toEqual([
    ['old', 'Unknown', undefined],
    ['new', 'False', 'no'],
  ]);
});

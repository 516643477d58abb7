import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Stimulus } from '../../lib/stimulus/stimulus.ts';
import { assertStarts, createExecution, type StimulusStart, planOf } from './start-execution.ts';

const schema = { type: 'object', required: ['n'], properties: { 'a b': { type: 'string' } } };
const workflow: Workflow = aWorkflow('w').state('end', anEnd()).with({ input_schema: schema }).build();
const plan = (input: object): StimulusStart =>
  ({ workflow, workflowName: 'w', namespace: 'team', fields: { input } }) as unknown as StimulusStart;
const unchanged = { get: async () => workflow as never };

describe('the content of a stimulus', () => {
  it('STIM-34 AMB-145 that is no input of its workflow is refused, with the paths that a start names', async () => {
    await expect(assertStarts(unchanged, plan({ 'a b': 1 }))).rejects.toMatchObject({
      details: [{ path: 'input.n' }, { path: 'input["a b"]' }],
    });
  });

  it('that is one is let through', async () => {
    await expect(assertStarts(unchanged, plan({ n: 1 }))).resolves.toBeUndefined();
  });
});

describe('the execution of a stimulus', () => {
  const stimulus: Stimulus = {
    id: '5f1c3d1e-5c0f-4d3a-9a55-0c7f3a2f9d41',
    source: { kind: 'HttpApi', name: 'http_api' },
    content: { n: 1 },
    headers: {},
    receivedAt: '2026-01-02T03:04:05.000Z',
  };
  const kube = (onWait: () => void) => ({
    get: async () => workflow as never,
    create: async (_: unknown, wanted: object) => {
      onWait();
      return wanted as never;
    },
  });

  it('AMB-145 runs the version that took its content, whatever is registered before it begins', async () => {
    const first: Workflow = { ...workflow, metadata: { ...workflow.metadata, name: 'w', uid: 'wu' } };
    const started = planOf({ stimulus, namespace: 'team', workflow: first, workflowName: 'w' });
    let newest: Workflow = first;
    const client = kube(() => {
      newest = { ...first, spec: { ...first.spec, version: '2.0.0' } };
    });
    await assertStarts(client, started);
    const { spec }: WorkflowExecution = await createExecution(client, started);
    expect(newest.spec.version).toBe('2.0.0');
    expect(spec).toMatchObject({ workflow: 'w', version: '1.0.0', input: { n: 1 } });
  });
});

import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { assertStarts, type ExecutionPlan } from './start-execution.ts';

const schema = { type: 'object', required: ['n'], properties: { 'a b': { type: 'string' } } };
const workflow: Workflow = aWorkflow('w').state('end', anEnd()).with({ input_schema: schema }).build();
const plan = (input: object): ExecutionPlan =>
  ({ workflow, workflowName: 'w', namespace: 'team', fields: { input } }) as unknown as ExecutionPlan;
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

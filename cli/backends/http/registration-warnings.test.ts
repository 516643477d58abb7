import { expect, it } from 'vitest';
import { anAgent } from '../../../test/builders/agent-builder.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { createAgents } from './agents.ts';
import { createWorkflows } from './workflows.ts';

it.each([[[{ path: 'spec.runtime.model', message: 'is not defined' }]], [undefined]])(
  'a registration over HTTP answers the warnings of the API: %j',
  async (warnings) => {
    const answer = async () => ({ agent_id: 'x', workflow_id: 'x', registration: 'created', warnings });
    const deps = { client: { registerAgent: answer, registerWorkflow: answer }, words: { place: 'here' } } as never;
    const options = { scope: 'tenant', force: false } as const;
    const workflow = aWorkflow('small').state('end', anEnd()).build();
    expect((await createAgents(deps).register(anAgent(), options)).warnings).toEqual(warnings);
    expect((await createWorkflows(deps).register(workflow, options)).warnings).toEqual(warnings);
  },
);

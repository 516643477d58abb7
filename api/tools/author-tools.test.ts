import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  agentUid,
  aManifestReader,
  createServiceToolsWorld,
  type OperationCall,
  type ServiceToolsWorld,
} from '../../test/support/service-tools.ts';

const manifest = `apiVersion: windlass.dev/v1
kind: Workflow
metadata: { name: greet, version: 1.0.0 }
spec:
  initial_state: hello
  states: { hello: { kind: System, command: finalize, transitions: [] } }
`;

const manifests = aManifestReader();
afterAll(() => manifests.close());

let world: ServiceToolsWorld;
let answers: Record<string, unknown>;
beforeEach(() => {
  world = createServiceToolsWorld({ manifests });
  answers = {
    readAgent: { metadata: { version: '1.2.0' }, spec: {} },
    startAgentExecution: { execution_id: 'e-1' },
    readAgentExecution: { status: 'completed', output: manifest },
    listWorkflows: { workflows: [], next_cursor: null },
    registerWorkflow: { workflow_id: 'w-1' },
    startExecution: { execution_id: 'p-1' },
    readExecution: { status: 'completed', final_output: { n: 1 } },
  };
  world.give = ({ operationId }: OperationCall) => answers[operationId];
});

const asked = (operationId: string) => world.calls.filter((call) => call.operationId === operationId);

describe('what an author writes', () => {
  it('TOOL-010 is answered with its problems', async () => {
    const value = await world.valueOf('svc.workflow.generate', { input: 'greet me' });
    expect(value).toEqual({
      execution_id: 'e-1',
      status: 'completed',
      manifest_yaml: manifest,
      valid: true,
      problems: [],
    });
    expect(asked('startAgentExecution')).toMatchObject([
      { body: { agent_id: agentUid, version: '1.2.0', input: 'greet me' } },
    ]);
  });

  it('TOOL-007 is taken out of a fence, and what is wrong with it is named', async () => {
    answers['readAgentExecution'] = { status: 'completed', output: 'Here:\n```yaml\nkind: Agent\n```\nDone.' };
    const value = await world.valueOf('svc.agent.generate', { input: 'review' });
    expect(value).toMatchObject({ manifest_yaml: 'kind: Agent', valid: false });
  });

  it('TOOL-010 keeps a fence that the manifest itself holds', async () => {
    const inner = manifest.replace('metadata:', '# Shows:\n#\n  # ```ts\n  # ```\nmetadata:');
    answers['readAgentExecution'] = {
      status: 'completed',
      output: `\`\`\`ts\nx\n\`\`\`\n\`\`\`yaml\n${inner}\`\`\`\n`,
    };
    const value = await world.valueOf('svc.workflow.generate', { input: 'greet me' });
    expect(value).toMatchObject({ manifest_yaml: inner.trimEnd(), valid: true });
  });

  it('TOOL-RULE-08 comes from the default security context, or the call is refused', async () => {
    answers['readAgent'] = { metadata: { version: '1.2.0' }, spec: { security: { context: 'wide' } } };
    const { content, isError } = await world.run('svc.agent.generate', { input: 'review' });
    expect([isError, content]).toEqual([true, expect.stringContaining('PERMISSION_DENIED: agent-author must run')]);
    expect(asked('startAgentExecution')).toEqual([]);
    answers['readAgent'] = { metadata: { version: '1.2.0' }, spec: { security: { context: 'default' } } };
    expect((await world.run('svc.agent.generate', { input: 'review' })).isError).toBe(false);
  });

  it('needs an author', async () => {
    world = createServiceToolsWorld({ agentIdOf: async () => undefined });
    const { content } = await world.run('svc.agent.generate', { input: 'review' });
    expect(content).toBe('NOT_FOUND: there is no agent agent-author, which writes manifests; register one');
  });

  it('is waited for no longer than the call says', async () => {
    answers['readAgentExecution'] = { status: 'running' };
    const answered = world.valueOf('svc.agent.generate', { input: 'review', timeout_secs: 1 });
    await world.clock.advance(1_000);
    expect(await answered).toEqual({ execution_id: 'e-1', status: 'running', timed_out: true });
  });

  it('is an error where the author failed', async () => {
    answers['readAgentExecution'] = { status: 'failed', reason: 'Timeout', message: 'too slow' };
    const { content } = await world.run('svc.workflow.generate', { input: 'greet me' });
    expect(content).toBe('CONFLICT: workflow-author wrote nothing, failed: Timeout: too slow');
  });
});

describe('a pipeline', () => {
  const row = (name: string, fields = {}) => ({ workflow_id: `id-${name}`, name, ready: true, ...fields });
  const wish = 'Please build the web site and test it';

  it.each<[string, object[], string | undefined]>([
    ['that has most of the words', [row('build'), row('build-test'), row('deploy')], 'id-build-test'],
    [
      'by its description where names are alike',
      [row('build'), row('build', { description: 'a web site', workflow_id: 'b' })],
      'b',
    ],
    ['not one that is not ready', [row('build', { ready: false })], undefined],
    ['not one of whose name it holds less than half', [row('build-every-other-thing')], undefined],
    ['not one whose name says nothing', [row('a-b')], undefined],
  ])('TOOL-016 is found %s', async (_title, workflows, want) => {
    answers['listWorkflows'] = { workflows, next_cursor: null };
    expect(await world.valueOf('svc.execute.intent', { intent: wish })).toEqual({
      pipeline_execution_id: 'p-1',
      workflow: want ?? 'w-1',
      written: want === undefined,
    });
    expect(asked('startExecution')).toMatchObject([{ body: { intent: wish, input: { prompt: wish } } }]);
    expect(asked('registerWorkflow')).toHaveLength(want === undefined ? 1 : 0);
  });

  it('TOOL-081 is waited for', async () => {
    answers['listWorkflows'] = { workflows: [row('build')], next_cursor: null };
    expect(await world.valueOf('svc.execute', { prompt: 'build it', input: { n: 2 } })).toEqual({
      pipeline_execution_id: 'p-1',
      workflow: 'id-build',
      written: false,
      status: 'completed',
      last_output: { n: 1 },
    });
    expect(asked('startExecution')).toMatchObject([{ body: { input: { n: 2 } } }]);
  });

  it('looks through five pages at most', async () => {
    answers['listWorkflows'] = { workflows: [], next_cursor: 'more' };
    await world.valueOf('svc.execute.intent', { intent: wish });
    expect(asked('listWorkflows')).toHaveLength(5);
  });
});

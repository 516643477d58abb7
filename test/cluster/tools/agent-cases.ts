import { expect } from 'vitest';
import { stringify } from 'yaml';
import type { ToolCase } from './tool-case.ts';

const talker = (version: string, description = 'Talks.') =>
  stringify({
    apiVersion: 'windlass.dev/v1',
    kind: 'Agent',
    metadata: { name: 'talker', version, description },
    spec: { runtime: { model: 'default' }, task: { instruction: 'You say what your input says.' } },
  });

const unknown = /^NOT_FOUND: (Agent|Execution) not found$/;
const nowhere = { execution_id: 'nowhere' };
const hello = JSON.stringify([{ content: 'hello' }]);

/** Over `held-1` and `held-2`, executions that wait for a person, and the agents that write manifests. */
export const agentCases: readonly ToolCase[] = [
  {
    tool: 'svc.schema.get',
    args: { key: 'Workflow' },
    want: { title: 'Workflow', type: 'object' },
    refused: [{ key: 'Nothing' }, /^NOT_FOUND: there is no kind "Nothing"/],
  },
  {
    tool: 'svc.schema.validate',
    args: { kind: 'Agent', manifest_yaml: talker('1.0.0') },
    want: { valid: true },
    refused: [{ kind: 'Nothing', manifest_yaml: '' }, /^NOT_FOUND: there is no kind "Nothing"/],
  },
  {
    tool: 'svc.tools.list',
    args: {},
    want: { tools: expect.arrayContaining([expect.objectContaining({ name: 'svc.tools.list' })]) },
  },
  {
    tool: 'svc.tools.search',
    args: { query: 'schema kind' },
    want: { tools: [{ name: 'svc.schema.get' }, { name: 'svc.schema.validate' }] },
  },
  { tool: 'svc.system.info', args: {}, want: { name: 'windlass' } },
  { tool: 'svc.system.config', args: {}, want: { models: [{ provider: 'scripted', aliases: ['default'] }] } },
  { tool: 'svc.runtime.list', args: {}, want: { runtimes: [] } },
  {
    tool: 'svc.agent.create',
    args: { manifest_yaml: talker('1.0.0') },
    want: { name: 'talker', version: '1.0.0', registration: 'created' },
    refused: [{ manifest_yaml: talker('1.0.0', 'Something else.') }, /^CONFLICT: version 1\.0\.0 /],
  },
  {
    tool: 'svc.agent.update',
    args: { manifest_yaml: talker('1.1.0') },
    want: { version: '1.1.0', registration: 'updated' },
    refused: [{ manifest_yaml: talker('1.1.0', 'Something else.') }, /^CONFLICT: version 1\.1\.0 /],
  },
  {
    tool: 'svc.agent.list',
    args: {},
    want: { agents: expect.arrayContaining([expect.objectContaining({ name: 'talker' })]) },
  },
  { tool: 'svc.agent.search', args: { query: 'talker' }, want: { agents: [{ name: 'talker' }] } },
  {
    tool: 'svc.agent.export',
    args: { name: 'talker' },
    want: { kind: 'Agent', metadata: { version: '1.1.0' } },
    refused: [{ name: 'nowhere' }, unknown],
  },
  {
    tool: 'svc.task.execute',
    args: { agent_id: 'talker', input: hello },
    want: { execution_id: expect.any(String) },
    notes: { task: 'execution_id' },
    refused: [{ agent_id: 'nowhere' }, /^NOT_FOUND: there is no agent nowhere; svc\.agent\.list names them/],
  },
  {
    tool: 'svc.task.wait',
    args: ({ task }) => ({ execution_id: task }),
    want: { status: 'completed', output: 'hello' },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.agent.wait',
    args: ({ task }) => ({ execution_id: task }),
    want: { status: 'completed', output: 'hello' },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.task.status',
    args: ({ task }) => ({ execution_id: task }),
    want: { status: 'completed' },
    refused: [nowhere, unknown],
  },
  { tool: 'svc.task.list', args: { agent_id: 'talker' }, want: { executions: [{ agent: 'talker' }] } },
  {
    tool: 'svc.task.logs',
    args: ({ task }) => ({ execution_id: task }),
    want: { records: expect.arrayContaining([expect.objectContaining({ kind: 'model_replied', content: 'hello' })]) },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.agent.logs',
    args: { agent_id: 'talker' },
    want: { executions: [{ status: 'completed', records: expect.any(Array) }] },
    refused: [{ agent_id: 'nowhere' }, unknown],
  },
  {
    tool: 'svc.task.cancel',
    args: { execution_id: 'held-1', reason: 'no need' },
    want: { status: 'cancelling' },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.task.remove',
    args: ({ task }) => ({ execution_id: task }),
    want: { status: 'deleted' },
    refused: [{ execution_id: 'held-2' }, /^CONFLICT: the execution is still running; cancel it first/],
  },
  {
    tool: 'svc.agent.generate',
    args: { input: JSON.stringify([{ content: `Here it is:\n\`\`\`yaml\n${talker('2.0.0')}\n\`\`\`` }]) },
    want: { valid: true },
    refused: [
      { input: JSON.stringify([{ status: 400, message: 'no' }]) },
      /^CONFLICT: agent-author wrote nothing, failed: /,
    ],
  },
  {
    tool: 'svc.agent.delete',
    args: { agent_id: 'talker' },
    want: { name: 'talker' },
    refused: [{ agent_id: 'nowhere' }, unknown],
  },
];

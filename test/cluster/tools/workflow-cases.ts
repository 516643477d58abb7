import { expect } from 'vitest';
import { stringify } from 'yaml';
import type { ToolCase } from './tool-case.ts';

const finalize = { kind: 'System', command: 'finalize', transitions: [] };
const greeter = (version: string, description = 'Greets people.') =>
  stringify({
    apiVersion: 'windlass.dev/v1',
    kind: 'Workflow',
    metadata: { name: 'greet-people', version, description },
    spec: { initial_state: 'greet', states: { greet: finalize } },
  });

const unknown = /^NOT_FOUND: (Workflow|Execution) not found$/;
const nowhere = { execution_id: 'nowhere' };
/** The answer of an author, to be said by the scripted model. */
const said = (content: string): string => JSON.stringify([{ content }]);
/** The model refuses. */
const speechless = JSON.stringify([{ status: 400, message: 'no' }]);

/** Over `make-file`, `ask` and their executions, which the test has made. */
export const workflowCases: readonly ToolCase[] = [
  {
    tool: 'svc.workflow.validate',
    args: { manifest_yaml: greeter('1.0.0') },
    want: { valid: true },
    refused: [{}, /^INVALID_ARGUMENT: manifest_yaml is missing/],
  },
  {
    tool: 'svc.workflow.create',
    args: { manifest_yaml: greeter('1.0.0') },
    want: { name: 'greet-people', version: '1.0.0', registration: 'created' },
    refused: [{ manifest_yaml: greeter('1.0.0', 'Something else.') }, /^CONFLICT: version 1\.0\.0 /],
  },
  {
    tool: 'svc.workflow.update',
    args: { manifest_yaml: greeter('1.1.0') },
    want: { version: '1.1.0', registration: 'updated' },
    refused: [{ manifest_yaml: greeter('1.1.0', 'Something else.') }, /^CONFLICT: version 1\.1\.0 /],
  },
  {
    tool: 'svc.workflow.list',
    args: {},
    // Another test may register one for all tenants meanwhile.
    want: {
      workflows: expect.arrayContaining(
        ['ask', 'greet-people', 'make-file'].map((name): unknown => expect.objectContaining({ name })),
      ),
    },
  },
  { tool: 'svc.workflow.search', args: { query: 'greet' }, want: { workflows: [{ name: 'greet-people' }] } },
  {
    tool: 'svc.workflow.export',
    args: { name: 'greet-people' },
    want: { kind: 'Workflow', metadata: { version: '1.1.0' } },
    refused: [{ name: 'nowhere' }, unknown],
  },
  {
    tool: 'svc.workflow.run',
    args: { name: 'make-file' },
    want: { execution_id: expect.any(String) },
    notes: { made: 'execution_id' },
    refused: [{ name: 'nowhere' }, unknown],
  },
  {
    tool: 'svc.workflow.wait',
    args: ({ made }) => ({ execution_id: made }),
    want: { status: 'completed' },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.workflow.status',
    args: ({ made }) => ({ execution_id: made }),
    want: { status: 'completed' },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.workflow.executions.list',
    args: {},
    want: { executions: expect.arrayContaining([expect.objectContaining({ workflow: 'make-file' })]) },
  },
  {
    tool: 'svc.workflow.executions.get',
    args: ({ made }) => ({ execution_id: made }),
    want: { status: 'completed' },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.workflow.logs',
    args: ({ made }) => ({ execution_id: made }),
    want: { text: 'made\n', truncated: false },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.execution.file',
    args: ({ made }) => ({ execution_id: made, path: '/workspace/a.txt' }),
    want: { content: 'made\n' },
    refused: [{ ...nowhere, path: '/workspace/a.txt' }, unknown],
  },
  {
    tool: 'svc.workflow.remove',
    args: ({ made }) => ({ execution_id: made }),
    want: { status: 'deleted' },
    refused: [{ execution_id: 'ask-1' }, /^CONFLICT: the execution is still running; cancel it first$/],
  },
  {
    tool: 'svc.workflow.signal',
    args: { execution_id: 'ask-1', response: 'yes' },
    want: { status: 'signaled' },
    refused: [
      { execution_id: 'ask-1', response: 'yes', state: 'another' },
      /^CONFLICT: ask-1 (is not waiting for a decision|waits in state )/,
    ],
  },
  {
    tool: 'svc.workflow.cancel',
    args: { execution_id: 'ask-2', reason: 'no need' },
    want: { status: 'cancelling' },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.execute.intent',
    args: { intent: 'please greet people' },
    want: { workflow: expect.any(String), written: false },
    notes: { pipeline: 'pipeline_execution_id' },
    refused: [{ intent: speechless }, /^CONFLICT: workflow-author wrote nothing, failed: /],
  },
  {
    tool: 'svc.execute.wait',
    args: ({ pipeline }) => ({ execution_id: pipeline }),
    want: { status: 'completed' },
    refused: [nowhere, unknown],
  },
  {
    tool: 'svc.execute.status',
    args: ({ pipeline }) => ({ pipeline_execution_id: pipeline }),
    want: { status: 'completed' },
    refused: [{ pipeline_execution_id: 'nowhere' }, unknown],
  },
  {
    tool: 'svc.execute',
    args: { prompt: 'greet the people' },
    want: { status: 'completed', written: false },
    refused: [{ prompt: speechless }, /^CONFLICT: workflow-author wrote nothing, failed: /],
  },
  {
    tool: 'svc.workflow.generate',
    args: { input: said(greeter('2.0.0')) },
    want: { manifest_yaml: greeter('2.0.0'), valid: true },
    refused: [{ input: speechless }, /^CONFLICT: workflow-author wrote nothing, failed: /],
  },
  {
    tool: 'svc.workflow.delete',
    args: { name: 'greet-people' },
    want: { name: 'greet-people' },
    refused: [{ name: 'nowhere' }, unknown],
  },
];

/** Tools that operators alone may use over HTTP: no call of them succeeds (requirements AMB-150, AMB-194). */
export const operatorsOnly: readonly ToolCase[] = ['promote', 'demote'].map((act) => ({
  tool: `svc.workflow.${act}`,
  args: { name: 'make-file', scope: act === 'promote' ? 'global' : 'user' },
  want: /^PERMISSION_DENIED: this needs the role svc:operator or svc:admin$/,
  isNeverGranted: true,
  refused: [{}, /^INVALID_ARGUMENT: name is missing/],
}));

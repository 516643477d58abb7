import type { ToolArguments } from '../../lib/tools/tool.ts';
import { type Give, given, invalid, textArgument } from './give.ts';
import type { Asked, Operations } from './operations.ts';

type Ask = (args: ToolArguments) => Asked;

const execution = (args: ToolArguments) => ({ execution_id: textArgument(args, 'execution_id') });
const page = (args: ToolArguments) => ({ limit: args['limit'] ?? 50 });
const found: Ask = (args) => ({ query: { ...page(args), q: textArgument(args, 'query') } });
const reason = (args: ToolArguments) => (typeof args['reason'] === 'string' ? { reason: args['reason'] } : {});
const workflow = (args: ToolArguments) => ({ workflow: textArgument(args, 'name') });
/** Only what the row of the tool declares: its types were checked. */
const registered =
  (...query: readonly string[]): Ask =>
  (args) => ({ body: textArgument(args, 'manifest_yaml'), query: given(args, ...query) });

/** requirements AMB-135: a name that is missing is an error of the tool, not of the call. */
function moved(args: ToolArguments): Asked {
  if (typeof args['name'] !== 'string') throw invalid('name is missing; give the name of the workflow');
  return { params: workflow(args), query: given(args, 'scope', 'force') };
}

/** Tools that are one operation each: its id, and how the arguments become its request. */
const direct: Readonly<Record<string, readonly [operationId: string, ask: Ask]>> = {
  'svc.agent.list': ['listAgents', (args) => ({ query: page(args) })],
  'svc.agent.search': ['listAgents', found],
  'svc.agent.export': ['readAgent', (args) => ({ params: { agent: textArgument(args, 'name') } })],
  'svc.agent.create': ['registerAgent', registered()],
  'svc.agent.update': ['registerAgent', registered('force')],
  'svc.agent.delete': ['deleteAgent', (args) => ({ params: { agent: textArgument(args, 'agent_id') } })],
  'svc.task.list': [
    'listAgentExecutions',
    (args) => ({ query: { ...page(args), ...(args['agent_id'] === undefined ? {} : { agent: args['agent_id'] }) } }),
  ],
  'svc.task.status': ['readAgentExecution', (args) => ({ params: execution(args) })],
  'svc.task.logs': ['readAgentTranscript', (args) => ({ params: execution(args) })],
  'svc.task.cancel': ['cancelAgentExecution', (args) => ({ params: execution(args), body: reason(args) })],
  'svc.workflow.list': ['listWorkflows', (args) => ({ query: page(args) })],
  'svc.workflow.search': ['listWorkflows', found],
  'svc.workflow.export': ['readWorkflow', (args) => ({ params: workflow(args) })],
  'svc.workflow.create': ['registerWorkflow', registered('scope')],
  'svc.workflow.update': ['registerWorkflow', registered('scope', 'force')],
  'svc.workflow.delete': ['deleteWorkflow', (args) => ({ params: workflow(args), query: given(args, 'scope') })],
  'svc.workflow.promote': ['promoteWorkflow', moved],
  'svc.workflow.demote': ['demoteWorkflow', moved],
  'svc.workflow.run': [
    'startExecution',
    (args) => ({ body: { workflow: textArgument(args, 'name'), ...given(args, 'input', 'version') }, once: true }),
  ],
  'svc.workflow.executions.list': ['listExecutions', (args) => ({ query: page(args) })],
  'svc.workflow.executions.get': ['readExecution', (args) => ({ params: execution(args) })],
  'svc.workflow.status': ['readExecution', (args) => ({ params: execution(args) })],
  'svc.workflow.logs': ['readExecutionLogs', (args) => ({ params: execution(args), query: given(args, 'state') })],
  'svc.workflow.signal': [
    'signalExecution',
    (args) => ({ params: execution(args), body: given(args, 'response', 'feedback', 'state') }),
  ],
  'svc.workflow.cancel': ['cancelExecution', (args) => ({ params: execution(args), body: reason(args) })],
  'svc.execute.status': [
    'readExecution',
    (args) => ({ params: { execution_id: textArgument(args, 'pipeline_execution_id') } }),
  ],
  // The tier of the SecurityContext grants these (spec 2 §4.6).
  'svc.edge.fleet.list': ['previewFleet', (args) => ({ body: given(args, 'target'), scopes: ['svc.edge.fleet.read'] })],
  'svc.edge.fleet.cancel': [
    'cancelFleet',
    (args) => ({
      params: { fleet_command_id: textArgument(args, 'fleet_command_id') },
      scopes: ['svc.edge.fleet.manage'],
    }),
  ],
  'svc.volume.list': ['listVolumes', (args) => ({ query: page(args) })],
  'svc.volume.delete': ['deleteVolume', (args) => ({ params: { volume_id: textArgument(args, 'volume_id') } })],
};

export const directTools = (operations: Pick<Operations, 'call'>): Record<string, Give> =>
  Object.fromEntries(
    Object.entries(direct).map(([name, [operationId, ask]]) => [
      name,
      (caller, args) => operations.call(operationId, caller, ask(args)),
    ]),
  );

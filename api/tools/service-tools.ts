import { isUid } from '../../crds/uid.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import type { NodeConfig } from '../../lib/node-config/index.ts';
import { answer, failure } from '../../lib/tools/answers.ts';
import { catalogue } from '../../lib/tools/catalogue/catalogue.ts';
import type { ToolAnswer, ToolArguments, ToolCaller, ToolRun } from '../../lib/tools/tool.ts';
import type { ToolRuns } from '../../lib/tools/toolbox.ts';
import type { Asked, Operations } from './operations.ts';

export interface ServiceToolsDeps {
  readonly clock: Clock;
  readonly operations: Pick<Operations, 'call'>;
  readonly runtimes: NodeConfig['runtimes'];
  /** Uid of an agent that the tenant sees, by its name. */
  readonly agentIdOf: (tenant: string, name: string) => Promise<string | undefined>;
  /** Names of the tools that the caller may call. */
  readonly offered: (caller: ToolCaller) => readonly string[];
}

/** Gives the value that a tool answers with. */
type Give = (caller: ToolCaller, args: ToolArguments, signal: AbortSignal) => Promise<unknown>;

/** Tools that administer the platform, over the operations of the HTTP API (spec 3 §10.1). */
export function createServiceTools(deps: ServiceToolsDeps): ToolRuns {
  const gives = {
    ...overOperations(deps),
    ...waits(deps),
    ...ofInstallation(deps),
    'svc.task.execute': executes(deps),
    'svc.edge.fleet.invoke': invokesFleet(deps),
  };
  return Object.fromEntries(Object.entries(gives).map(([name, give]) => [name, runOf(give)]));
}

const textOf = (args: ToolArguments, name: string): string => args[name] as string;
const execution = (args: ToolArguments) => ({ execution_id: textOf(args, 'execution_id') });
const page = (args: ToolArguments) => ({ limit: args['limit'] ?? 50 });
const reason = (args: ToolArguments) => (typeof args['reason'] === 'string' ? { reason: args['reason'] } : {});
const given = (args: ToolArguments, ...names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.flatMap((name) => (args[name] === undefined || args[name] === null ? [] : [[name, args[name]]])),
  );

/** Tools that are one operation each: its id, and how the arguments become its request. */
const direct: Readonly<Record<string, readonly [operationId: string, ask: (args: ToolArguments) => Asked]>> = {
  'svc.agent.list': ['listAgents', (args) => ({ query: page(args) })],
  'svc.agent.export': ['readAgent', (args) => ({ params: { agent: textOf(args, 'name') } })],
  'svc.task.list': [
    'listAgentExecutions',
    (args) => ({ query: { ...page(args), ...(args['agent_id'] === undefined ? {} : { agent: args['agent_id'] }) } }),
  ],
  'svc.task.status': ['readAgentExecution', (args) => ({ params: execution(args) })],
  'svc.task.logs': ['readAgentTranscript', (args) => ({ params: execution(args) })],
  'svc.task.cancel': ['cancelAgentExecution', (args) => ({ params: execution(args), body: reason(args) })],
  'svc.workflow.list': ['listWorkflows', (args) => ({ query: page(args) })],
  'svc.workflow.export': ['readWorkflow', (args) => ({ params: { workflow: textOf(args, 'name') } })],
  'svc.workflow.run': [
    'startExecution',
    (args) => ({ body: { workflow: textOf(args, 'name'), ...given(args, 'input', 'version') } }),
  ],
  'svc.workflow.executions.list': ['listExecutions', (args) => ({ query: page(args) })],
  'svc.workflow.executions.get': ['readExecution', (args) => ({ params: execution(args) })],
  'svc.workflow.status': ['readExecution', (args) => ({ params: execution(args) })],
  'svc.workflow.cancel': ['cancelExecution', (args) => ({ params: execution(args), body: reason(args) })],
  // The tier of the SecurityContext grants these (spec 2 §4.6).
  'svc.edge.fleet.list': ['previewFleet', (args) => ({ body: given(args, 'target'), scopes: ['svc.edge.fleet.read'] })],
  'svc.edge.fleet.cancel': [
    'cancelFleet',
    (args) => ({
      params: { fleet_command_id: textOf(args, 'fleet_command_id') },
      scopes: ['svc.edge.fleet.manage'],
    }),
  ],
  'svc.volume.list': ['listVolumes', () => ({})],
  'svc.volume.delete': ['deleteVolume', (args) => ({ params: { volume_id: textOf(args, 'volume_id') } })],
};

const overOperations = ({ operations }: ServiceToolsDeps): Record<string, Give> =>
  Object.fromEntries(
    Object.entries(direct).map(([name, [operationId, ask]]) => [
      name,
      (caller, args) => operations.call(operationId, caller, ask(args)),
    ]),
  );

/** requirements AMB-136: the input may be left out. */
function executes({ operations, agentIdOf }: ServiceToolsDeps): Give {
  return async (caller, args) => {
    const asked = textOf(args, 'agent_id');
    const agentId = isUid(asked.toLowerCase()) ? asked : await agentIdOf(caller.tenant, asked);
    if (agentId === undefined) throw new AppError('not_found', `there is no agent ${asked}`, { reason: 'NOT_FOUND' });
    const body = { agent_id: agentId, input: '', ...given(args, 'input', 'version', 'intent') };
    return operations.call('startAgentExecution', caller, { body });
  };
}

/** Waits for the end of the run; answers a FleetExecutionResult (spec 2 §2.4). The run goes on when the call ends before. */
function invokesFleet({ operations }: ServiceToolsDeps): Give {
  return async (caller, args, signal) => {
    const body = given(args, 'target', 'tool', 'args', 'policy');
    const result = await operations.call('invokeFleet', caller, { body, scopes: ['svc.edge.fleet.manage'], signal });
    signal.throwIfAborted();
    if (!isJsonObject(result) || typeof result['fleet_command_id'] !== 'string') return result;
    const params = { fleet_command_id: result['fleet_command_id'] };
    const run = await operations.call('readFleetRun', caller, { params, scopes: ['svc.edge.fleet.read'] });
    return isJsonObject(run) ? { ...result, outcome: run['outcome'], per_node: run['per_node'] } : result;
  };
}

/** The longest wait of a call, where it does not say, and how often the execution is looked at. */
const waiting = { seconds: 60, everyMs: 1_000 };
const ends: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

function waits(deps: ServiceToolsDeps): Record<string, Give> {
  const task = waitsFor(deps, (caller, args) =>
    deps.operations.call('readAgentExecution', caller, { params: execution(args) }),
  );
  const workflow = waitsFor(deps, async (caller, args) => {
    const asked = { params: execution(args), query: { full: true } };
    const value = await deps.operations.call('readExecution', caller, asked);
    // requirements WF-API-06.
    return isJsonObject(value) ? { ...value, last_output: value['final_output'] } : value;
  });
  return { 'svc.task.wait': task, 'svc.agent.wait': task, 'svc.workflow.wait': workflow, 'svc.execute.wait': workflow };
}

/** Looks again until the execution has ended; out of time it answers how far it is, with `timed_out`. */
function waitsFor(
  { clock }: ServiceToolsDeps,
  read: (caller: ToolCaller, args: ToolArguments) => Promise<unknown>,
): Give {
  return async (caller, args, signal) => {
    const seconds = typeof args['timeout_secs'] === 'number' ? args['timeout_secs'] : waiting.seconds;
    const until = clock.now() + seconds * 1_000;
    for (;;) {
      signal.throwIfAborted();
      const value = await read(caller, args);
      if (!isJsonObject(value) || ends.has(value['status'])) return value;
      if (clock.now() >= until) return { ...value, timed_out: true };
      await clock.sleep(Math.min(waiting.everyMs, until - clock.now()), signal);
    }
  };
}

function ofInstallation({ runtimes, offered }: ServiceToolsDeps): Record<string, Give> {
  const tools = (caller: ToolCaller, query = '') => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = offered(caller).flatMap((name) => catalogue.get(name) ?? []);
    const fits = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word));
    return rows
      .filter(({ name, description }) => fits(`${name} ${description}`))
      .map(({ name, description, input_schema }) => ({ name, description, input_schema }));
  };
  return {
    'svc.tools.list': async (caller) => ({ tools: tools(caller) }),
    'svc.tools.search': async (caller, { query }) => ({ tools: tools(caller, typeof query === 'string' ? query : '') }),
    'svc.runtime.list': async (_caller, { language }) => ({
      runtimes: runtimes.filter((runtime) => typeof language !== 'string' || runtime.language === language),
    }),
  };
}

/** Characters of an answer; a model reads no more. */
const answerLength = 1_048_576;

function runOf(give: Give): ToolRun {
  return {
    kind: 'api',
    async run(caller, args, signal): Promise<ToolAnswer> {
      try {
        const content = JSON.stringify(await give(caller, args, signal)) ?? 'null';
        return content.length <= answerLength
          ? answer(content)
          : failure('TOO_LARGE', 'the answer is too large; ask for less');
      } catch (error) {
        if (error instanceof AppError) return explained(error);
        throw error;
      }
    },
  };
}

const words: Readonly<Record<string, string>> = {
  not_found: 'NOT_FOUND',
  forbidden: 'PERMISSION_DENIED',
  conflict: 'CONFLICT',
};

/** What an operation refuses is an answer of the tool; what is our fault is not explained. */
function explained(error: AppError): ToolAnswer {
  if (error instanceof HttpError) {
    const { code, error: text, message, details = [] } = error.options;
    const shown = [text, message, ...details.map((one) => `${one.path} ${one.message}`)].filter(Boolean).join('; ');
    return failure(words[code] ?? 'REFUSED', shown || code);
  }
  if (error.code === 'not_found' || error.code === 'invalid')
    return failure(words[error.code] ?? error.reason, error.message);
  throw error;
}

import type { Phase } from '../../crds/schema/workflow-execution-status.ts';
import { isUid } from '../../crds/uid.ts';
import type { Clock } from '../../lib/clock.ts';
import { isTimeUp } from '../../lib/deadline.ts';
import { AppError } from '../../lib/errors.ts';
import { isEnd } from '../../lib/execution/finished.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { jsonText } from '../../lib/json-text.ts';
import { isGivenUp } from '../../lib/tools/given-up.ts';
import type { ToolArguments } from '../../lib/tools/tool.ts';
import type { RoomyCaller } from './call-room.ts';
import { type ExecutionPhases, isOver } from './execution-phases.ts';
import { answerLength, type Give, given, textArgument } from './give.ts';
import { lookUntil } from '../../lib/look-until.ts';
import type { Operations } from './operations.ts';

export interface ExecutionToolsDeps {
  readonly clock: Clock;
  readonly operations: Pick<Operations, 'call'>;
  readonly phases: ExecutionPhases;
  /** Uid of an agent that the tenant sees, by its name. */
  readonly agentIdOf: (tenant: string, name: string) => Promise<string | undefined>;
}

/**
 * Tools whose one effect is the start of something that has its name by the call (`ToolCaller.callId`): made again under the
 * same id, such a call finds what it has started.
 */
export const keyedTools: ReadonlySet<string> = new Set([
  'svc.edge.fleet.invoke',
  'svc.task.execute',
  'svc.workflow.run',
]);

/** Tools about executions that are more than one operation: waits, removals, what an agent said. */
export function executionTools(deps: ExecutionToolsDeps): Record<string, Give> {
  return {
    ...waits(deps),
    'svc.task.execute': executes(deps),
    'svc.task.remove': removes(deps, 'deleteAgentExecution', (...of) => deps.phases.ofAgent(...of)),
    'svc.workflow.remove': removes(deps, 'deleteExecution', (...of) => deps.phases.ofWorkflow(...of)),
    'svc.agent.logs': logsOfAgent(deps),
    'svc.edge.fleet.invoke': invokesFleet(deps),
  };
}

const execution = (args: ToolArguments) => ({ execution_id: textArgument(args, 'execution_id') });

/** requirements AMB-136: the input may be left out. */
function executes({ operations, agentIdOf }: ExecutionToolsDeps): Give {
  return async (caller, args) => {
    const asked = textArgument(args, 'agent_id');
    const agentId = isUid(asked.toLowerCase()) ? asked : await agentIdOf(caller.tenant, asked);
    if (agentId === undefined)
      throw new AppError('not_found', `there is no agent ${asked}; svc.agent.list names them`, { reason: 'NOT_FOUND' });
    const body = { agent_id: agentId, input: '', ...given(args, 'input', 'version', 'intent') };
    return operations.call('startAgentExecution', caller, { body, once: true });
  };
}

/**
 * Waits for the end of the run. Answers a FleetExecutionResult (spec 2 §2.4), why the run was refused or halted, and
 * the output that came meanwhile, each piece with its `node_id` (spec 2 §4.6). The run continues when the call ends
 * before: out of time it answers the run's id, with `timed_out`. A caller who gives it up cancels the run.
 */
function invokesFleet({ operations }: ExecutionToolsDeps): Give {
  return async (caller, args, signal) => {
    const body = given(args, 'target', 'tool', 'args', 'policy');
    const progress = createProgressLog();
    const scopes = ['svc.edge.fleet.manage'];
    let runId = '';
    const started = (headers: Readonly<Record<string, string>>): void => void (runId = headers[fleetHeader] ?? '');
    const event = (name: string, data: unknown): void => void (name === 'command_progress' && progress.add(data));
    const result = await operations.call('invokeFleet', caller, { body, scopes, signal, started, event, once: true });
    if (isTimeUp(signal) && runId !== '') return { fleet_command_id: runId, ...progress.answer(), timed_out: true };
    if (isGivenUp(signal) && runId !== '')
      await operations.call('cancelFleet', caller, { params: { fleet_command_id: runId }, scopes });
    signal.throwIfAborted();
    if (!isJsonObject(result) || typeof result['fleet_command_id'] !== 'string') return result;
    const params = { fleet_command_id: result['fleet_command_id'] };
    const run = await operations.call('readFleetRun', caller, { params, scopes: ['svc.edge.fleet.read'] });
    const end = isJsonObject(run) ? given(run, 'outcome', 'reason', 'message', 'per_node') : {};
    return { ...result, ...end, ...progress.answer() };
  };
}

/** Bytes of output that one answer repeats as JSON; the tails of each host are there beside it. */
const progressBytes = 65_536;

/** The newest pieces of output of a run, as far as an answer has room. */
function createProgressLog() {
  const pieces: { readonly data: unknown; readonly bytes: number }[] = [];
  let bytes = 0;
  let isCut = false;
  return {
    add(data: unknown): void {
      const size = Buffer.byteLength(JSON.stringify(data));
      pieces.push({ data, bytes: size });
      for (bytes += size; bytes > progressBytes; isCut = true) bytes -= pieces.shift()?.bytes ?? bytes;
    },
    answer: () => ({
      ...(pieces.length > 0 && { progress: pieces.map(({ data }) => data) }),
      ...(isCut && { progress_cut: true }),
    }),
  };
}

/** AMB-203. */
const fleetHeader = 'X-Fleet-Command-Id';

/** The longest wait of a call, where it does not say, and how often the execution is looked at. */
const waiting = { seconds: 60, everyMs: 1_000 };

/** Whether an answer of the API shows an execution at its end; the words of its status are those of a phase. */
export const hasEnded = (value: unknown): boolean => !isJsonObject(value) || isEnd(value['status']);

function waits(deps: ExecutionToolsDeps): Record<string, Give> {
  const { operations, phases } = deps;
  const task = waitsFor(deps, {
    phase: (caller, args) => phases.ofAgent(caller, textArgument(args, 'execution_id')),
    read: (caller, args) => operations.call('readAgentExecution', caller, { params: execution(args) }),
  });
  const workflow = waitsFor(deps, {
    phase: (caller, args) => phases.ofWorkflow(caller, textArgument(args, 'execution_id')),
    async read(caller, args) {
      const asked = { params: execution(args), query: { full: true } };
      const value = await operations.call('readExecution', caller, asked);
      // requirements WF-API-06.
      return isJsonObject(value) ? { ...value, last_output: value['final_output'] } : value;
    },
  });
  return { 'svc.task.wait': task, 'svc.agent.wait': task, 'svc.workflow.wait': workflow, 'svc.execute.wait': workflow };
}

/** The look that a wait repeats, and the read that it makes once, at its end. */
interface Awaited {
  readonly phase: (caller: RoomyCaller, args: ToolArguments) => Promise<Phase | undefined>;
  readonly read: (caller: RoomyCaller, args: ToolArguments) => Promise<unknown>;
}

/**
 * Looks again until the execution has ended; out of time it answers how far it is, with `timed_out`. Over the pauses a wait
 * holds no execution: one may take 37 MiB of heap, and hundreds of calls wait at a time.
 */
export function waitsFor({ clock }: Pick<ExecutionToolsDeps, 'clock'>, { phase, read }: Awaited): Give {
  return async (caller, args, signal) => {
    const seconds = typeof args['timeout_secs'] === 'number' ? args['timeout_secs'] : waiting.seconds;
    const looks = { clock, signal, ms: seconds * 1_000, everyMs: waiting.everyMs, isOver: () => isTimeUp(signal) };
    const look = async (): Promise<Phase | undefined> => {
      if (!isTimeUp(signal)) signal.throwIfAborted();
      return phase(caller, args);
    };
    caller.room.drop();
    await lookUntil(looks, look, isOver);
    const value = await read(caller, args);
    return hasEnded(value) || !isJsonObject(value) ? value : { ...value, timed_out: true };
  };
}

/** Deletes an execution that has ended; another tool cancels a running one first. */
function removes(
  { operations }: ExecutionToolsDeps,
  remove: string,
  phaseOf: (caller: RoomyCaller, id: string) => Promise<Phase | undefined>,
): Give {
  return async (caller, args) => {
    const asked = { params: execution(args) };
    if (!isOver(await phaseOf(caller, textArgument(args, 'execution_id'))))
      throw new AppError('conflict', 'the execution is still running; cancel it first', { reason: 'CONFLICT' });
    return operations.call(remove, caller, asked);
  };
}

/** Executions whose conversation is shown where the call does not say. */
const logsShown = 3;

/** The conversations of the newest executions of an agent: of each the first page. */
function logsOfAgent({ operations }: ExecutionToolsDeps): Give {
  return async (caller, args) => {
    const agent = textArgument(args, 'agent_id');
    const query = { agent, limit: args['limit'] ?? logsShown };
    const listed = await operations.call('listAgentExecutions', caller, { query });
    const rows = isJsonObject(listed) && Array.isArray(listed['executions']) ? listed['executions'] : [];
    // Executions outlive their agent; without any, the agent has to be there.
    if (rows.length === 0) await operations.call('readAgent', caller, { params: { agent } });
    const executions: unknown[] = [];
    let length = 0;
    for (const row of rows.filter(isJsonObject)) {
      const { execution_id, status } = row;
      const params = { execution_id: String(execution_id) };
      const transcript = await operations.call('readAgentTranscript', caller, { params });
      executions.push({ execution_id, status, ...(isJsonObject(transcript) ? transcript : {}) });
      length += jsonText(transcript)?.length ?? 0;
      // Whatever follows, the answer is too large.
      if (length > answerLength) break;
    }
    return { executions };
  };
}

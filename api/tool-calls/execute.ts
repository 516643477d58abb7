import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { AuditTrail } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { startDeadline } from '../../lib/deadline.ts';
import type { CallCounter } from '../../lib/envelope/index.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { isIdentityRefused } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { admitCall } from '../../lib/tools/admission.ts';
import { callsSpent, refusalText } from '../../lib/tools/refusals.ts';
import {
  isRefusal,
  type Tool,
  type ToolAnswer,
  type ToolArguments,
  type Toolbox,
  type ToolRefusal,
} from '../../lib/tools/tool.ts';
import { patientlyFor } from '../agents/conversation/patiently.ts';
import type { RegisteredCaller, RegisteredToolSource } from '../agents/registered/index.ts';
import type { ArgumentPart, ArgumentRoom } from './argument-room.ts';
import { answeredCall, type CallOutcome, cancelledCall, failedCall } from './outcome.ts';

interface ExecuteDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly toolbox: Toolbox;
  readonly registered: RegisteredToolSource;
  readonly calls: CallCounter;
  readonly room: ArgumentRoom;
  readonly audit: AuditTrail;
  /** @throws AppError `SecurityContextNotFound`. */
  readonly callerOf: (call: ToolCall) => Promise<RegisteredCaller>;
}

/** How long a call waits for the gateway or the bus before its tool is called. */
const patienceMs = 60_000;
/** How long a tool may take to stop after an abort; one that does not heed it is left alone then. */
const stopMs = 6_000;

/**
 * Runs one claimed call to its end: context, policy, arguments, count, audit of the intent, run, audit of the outcome (design
 * §12). Never rejects.
 */
export async function execute(deps: ExecuteDeps, call: ToolCall, signal: AbortSignal): Promise<CallOutcome> {
  let ready: Ready | CallOutcome;
  try {
    ready = await prepare(deps, call, signal);
  } catch (error) {
    return signal.aborted ? stoppedBefore(signal) : unprepared(deps, call, error);
  }
  if (!('tool' in ready)) return ready;
  // Between the claim and here nothing has run.
  if (signal.aborted) {
    ready.held[Symbol.dispose]();
    return stoppedBefore(signal);
  }
  return run(deps, call, ready, signal);
}

/** A call that may run. It holds the text of its arguments alone: the values are made when the tool gets them. */
interface Ready {
  readonly caller: RegisteredCaller;
  readonly tool: Tool;
  /** Whether the tool is one of the gateway, which gets the arguments as a text. */
  readonly isRegistered: boolean;
  readonly part: ArgumentPart;
  readonly held: Disposable;
}

async function prepare(deps: ExecuteDeps, call: ToolCall, signal: AbortSignal): Promise<Ready | CallOutcome> {
  const { clock, logger, calls, room } = deps;
  const retried: Retried = (what) => patientlyFor({ clock, logger, signal }, patienceMs, what);
  const caller = await retried(() => deps.callerOf(call));
  const { tenant, security } = caller;
  const registered = await registeredTools(deps, { caller, call, retried }, signal);
  using held = new DisposableStack();
  const part = held.use(await room.enter({ tenant, text: call.spec.arguments }, signal));
  const tool = await admit(deps, { caller, call, registered });
  if (isRefusal(tool)) return failedCall('ToolRefused', refusalText(tool));
  if (tool.run.kind !== 'api')
    return failedCall('ToolRefused', `NotInContainer: ${tool.name} runs in the container of an agent alone`);
  const { max_calls: most } = security;
  const account = { execution_id: call.spec.parent.uid, tenant };
  if (most !== undefined && !(await retried(() => calls.take(account, most, call.metadata.uid))))
    return failedCall('ToolRefused', refusalText(callsSpent(most)));
  return { caller, tool, isRegistered: registered !== undefined, part, held: held.move() };
}

interface Asking {
  readonly caller: RegisteredCaller;
  readonly call: ToolCall;
  readonly retried: Retried;
}

/** The tools of the gateway, before there are arguments to hold; undefined where a built-in tool has the name. */
async function registeredTools(
  { clock, toolbox, registered }: ExecuteDeps,
  { caller, call, retried }: Asking,
  signal: AbortSignal,
): Promise<readonly Tool[] | undefined> {
  const named = toolbox.admit(caller, call.spec.tool, undefined);
  if (!isRefusal(named) || named.kind !== 'unknown_tool') return undefined;
  return retried(async () => {
    using deadline = startDeadline(clock, patienceMs, signal);
    return await registered.offered(caller, deadline.signal);
  });
}

interface Admitting {
  readonly caller: RegisteredCaller;
  readonly call: ToolCall;
  readonly registered: readonly Tool[] | undefined;
}

async function admit(
  { toolbox }: ExecuteDeps,
  { caller, call, registered = [] }: Admitting,
): Promise<Tool | ToolRefusal> {
  const args: unknown = JSON.parse(call.spec.arguments);
  if (!isJsonObject(args))
    return { kind: 'arguments', code: 'InvalidArguments', message: 'arguments must be one JSON object' };
  return admitCall({ toolbox, caller, registered: async () => registered }, call.spec.tool, args);
}

/** Makes a call of the bus or of the API server, again while that is away. */
type Retried = <T>(what: () => Promise<T>) => Promise<T>;

function unprepared({ logger }: ExecuteDeps, { metadata }: ToolCall, error: unknown): CallOutcome {
  if (error instanceof AppError && error.code !== 'internal')
    return failedCall(
      error.code === 'unavailable' || isIdentityRefused(error) ? 'ToolUnavailable' : 'ToolRefused',
      `${error.reason}: ${error.message}`,
    );
  const { namespace, name } = metadata;
  logger.warn({ namespace, call: name, problem: messageOf(error) }, 'tool call could not be prepared');
  return failedCall('ToolUnavailable', 'the call could not be prepared; the log of the API tells more');
}

/** Runs the tool between two audit events. Neither holds arguments or results. */
async function run({ audit, ...deps }: ExecuteDeps, call: ToolCall, ready: Ready, signal: AbortSignal) {
  const { caller, tool } = ready;
  const subject = call.metadata.uid ?? '';
  const data = { tool: tool.name, workflow_execution: call.spec.parent.uid };
  audit.record({ by: caller, subject, type: 'ToolInvoked', data });
  const outcome = await outcomeOf(deps, call, ready, signal);
  const said = outcome.phase === 'completed' ? 'ok' : outcome.reason === 'ToolFailed' ? 'tool_error' : 'error';
  audit.record({ by: caller, subject, type: 'ToolInvocationEnded', data: { ...data, outcome: said } });
  return outcome;
}

async function outcomeOf(
  { clock, logger }: Pick<ExecuteDeps, 'clock' | 'logger'>,
  { metadata: { namespace, name }, spec }: ToolCall,
  ready: Ready,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const { tool } = ready;
  using patience = untilStopped(clock, signal);
  try {
    const answer = await Promise.race([begin(ready, spec.arguments, signal), patience.over]);
    return answer === 'over' || signal.aborted ? stopped(signal, answer) : answeredCall(answer);
  } catch (error) {
    if (signal.aborted) return stopped(signal, 'over');
    if (error instanceof AppError && error.code !== 'internal')
      return answeredCall({ content: `${error.reason}: ${error.message}`, isError: true });
    logger.warn({ namespace, call: name, tool: tool.name, problem: messageOf(error) }, 'tool of a workflow failed');
    return failedCall(
      'OutcomeUnknown',
      'the tool failed within Windlass, and may have run; the log of the API tells more',
    );
  }
}

/**
 * Calls the tool. A function that waits would hold the arguments until the tool has ended. Those of a registered tool are a
 * text again when this returns (`CallRegistered`). A tool that is left alone still holds what it was given.
 */
function begin({ caller, tool, isRegistered, part, held }: Ready, text: string, signal: AbortSignal) {
  const { run: way } = tool;
  if (way.kind !== 'api') throw new Error(`${tool.name} does not run in the API`);
  const answer = new Promise<ToolAnswer>((resolve) =>
    resolve(way.run(caller, JSON.parse(text) as ToolArguments, signal)),
  );
  if (isRegistered) part.keepText();
  const leave = (): void => held[Symbol.dispose]();
  void answer.then(leave, leave);
  return answer;
}

function untilStopped(clock: Clock, signal: AbortSignal) {
  const ended = new AbortController();
  const { promise: over, resolve } = Promise.withResolvers<'over'>();
  const wait = (): void => void clock.sleep(stopMs, ended.signal).then(() => resolve('over'));
  if (signal.aborted) wait();
  else signal.addEventListener('abort', wait, { once: true, signal: ended.signal });
  return { over, [Symbol.dispose]: () => ended.abort() };
}

/** A tool that answered in spite of the abort has its answer kept. */
function stopped(signal: AbortSignal, answer: ToolAnswer | 'over'): CallOutcome {
  if (answer !== 'over' && !answer.isError) return answeredCall(answer);
  return isTimeout(signal)
    ? failedCall('Timeout', 'the call took longer than its timeout and was stopped')
    : isCancelled(signal)
      ? cancelledCall
      : failedCall('OutcomeUnknown', 'the replica of the API that ran the call stopped; the tool may have run');
}

const stoppedBefore = (signal: AbortSignal): CallOutcome =>
  isTimeout(signal)
    ? failedCall('ToolUnavailable', 'the time of the call was over before its tool could be called')
    : isCancelled(signal)
      ? cancelledCall
      : failedCall('ToolUnavailable', 'the replica of the API stopped before the tool was called');

const codeOf = ({ reason }: AbortSignal): string => (reason instanceof AppError ? reason.code : '');
const isTimeout = (signal: AbortSignal): boolean => codeOf(signal) === 'timeout';
const isCancelled = (signal: AbortSignal): boolean => codeOf(signal) === 'cancelled';

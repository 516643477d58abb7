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
import { isRefusal, type Tool, type ToolAnswer, type ToolArguments, type Toolbox } from '../../lib/tools/tool.ts';
import { patientlyFor } from '../agents/conversation/patiently.ts';
import type { RegisteredCaller, RegisteredToolSource } from '../agents/registered/index.ts';
import { answeredCall, type CallOutcome, cancelledCall, failedCall } from './outcome.ts';

interface ExecuteDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly toolbox: Toolbox;
  readonly registered: RegisteredToolSource;
  readonly calls: CallCounter;
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
  if (signal.aborted) return stoppedBefore(signal);
  return run(deps, call, ready, signal);
}

interface Ready {
  readonly caller: RegisteredCaller;
  readonly tool: Tool;
  readonly args: ToolArguments;
}

async function prepare(deps: ExecuteDeps, call: ToolCall, signal: AbortSignal): Promise<Ready | CallOutcome> {
  const { clock, logger, calls } = deps;
  const retried: Retried = (what) => patientlyFor({ clock, logger, signal }, patienceMs, what);
  const args: unknown = JSON.parse(call.spec.arguments);
  if (!isJsonObject(args)) return failedCall('ToolRefused', 'InvalidArguments: arguments must be one JSON object');
  const caller = await retried(() => deps.callerOf(call));
  const registered = () =>
    retried(async () => {
      using deadline = startDeadline(clock, patienceMs, signal);
      return await deps.registered.offered(caller, deadline.signal);
    });
  const tool = await admitCall({ toolbox: deps.toolbox, caller, registered }, call.spec.tool, args);
  if (isRefusal(tool)) return failedCall('ToolRefused', refusalText(tool));
  if (tool.run.kind !== 'api')
    return failedCall('ToolRefused', `NotInContainer: ${tool.name} runs in the container of an agent alone`);
  const { max_calls: most } = caller.security;
  const account = { execution_id: call.spec.parent.uid, tenant: caller.tenant };
  if (most !== undefined && !(await retried(() => calls.take(account, most, call.metadata.uid))))
    return failedCall('ToolRefused', refusalText(callsSpent(most)));
  return { caller, tool, args };
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
  { metadata: { namespace, name } }: ToolCall,
  { caller, tool, args }: Ready,
  signal: AbortSignal,
): Promise<CallOutcome> {
  if (tool.run.kind !== 'api') return failedCall('ToolRefused', 'the tool runs in the container of an agent alone');
  using patience = untilStopped(clock, signal);
  try {
    const answer = await Promise.race([tool.run.run(caller, args, signal), patience.over]);
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

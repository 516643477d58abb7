import { limits } from '../../../crds/limits.ts';
import { judgeAlias } from '../../../lib/agent/asked-aliases.ts';
import { notYetMessage } from '../../../lib/caller-error.ts';
import type { Budget } from '../../../lib/conversation/budget.ts';
import { conversationLimits } from '../../../lib/conversation/limits.ts';
import { ownArgumentBytes } from '../../../lib/conversation/held-bytes.ts';
import { AppError } from '../../../lib/errors.ts';
import { callArguments } from '../../../lib/models/call-arguments.ts';
import { admitCall } from '../../../lib/tools/admission.ts';
import { callsSpent, refusalText } from '../../../lib/tools/refusals.ts';
import { isRefusal, type Tool, type ToolAnswer, type ToolArguments } from '../../../lib/tools/tool.ts';
import { underPresentContext } from '../conversation/context-return.ts';
import { type ConversationDeps, type EffectOf, record, recordJudge } from '../conversation/conversation-deps.ts';
import { isMoving } from '../conversation/log.ts';
import { patiently } from '../conversation/patiently.ts';
import { raiseStorageEvent } from '../conversation/storage-event.ts';
import { type Answered, answerByPod, unknownOutcome } from '../pods/pod-answer.ts';
import { callVerdict, JudgeFailed, judgeCall } from '../verdicts/judge.ts';
import { refusalByPerson } from '../verdicts/tool-approval.ts';
import { registeredTools } from './registered-offer.ts';
import { repeatable, repeatableAsOurselves } from './repeatable.ts';
import { lostAnswer, writtenEnd } from './written-end.ts';

type CallTool = EffectOf<'call_tool'>;

/**
 * Brings one call of the model to its end: checks by the policy of now, judge, person, run, answer (design §12, order of a call). A
 * call that was under way when a replica died runs again only where the tool is idempotent.
 */
export async function callTool(deps: ConversationDeps, effect: CallTool, signal: AbortSignal): Promise<void> {
  const { call, refusal } = effect;
  if (refusal !== undefined) return refuse(deps, effect, refusal);
  const args = argumentsOf(call.arguments);
  if (args === undefined) {
    return refuse(deps, effect, invalidArguments);
  }
  deps.holdCall(ownArgumentBytes(args));
  const { toolbox } = deps;
  const { clock, logger } = deps;
  const caller = await underPresentContext({ clock, logger, signal }, () => deps.callerNow(signal));
  const registered = () => registeredTools(deps, signal);
  const admitted = await admitCall({ toolbox, caller, registered }, call.name, args);
  if (isRefusal(admitted)) {
    if (isUnderWay(deps, call.id)) return endUnderWay(deps, { effect, args }, signal);
    const { id, name: tool } = call;
    if (admitted.kind === 'policy') raiseStorageEvent(deps, { id, tool, args, outcome: 'denied' });
    return refuse(deps, effect, refusalText(admitted));
  }
  const asked = { call, args, budget: effect.budget ?? {} };
  // A person is not asked about what the judge refuses.
  const verdict =
    (await verdictOf(deps, admitted, asked, signal)) ?? (await refusalByPerson(deps, admitted, asked, signal));
  if (verdict !== undefined) return refuse(deps, effect, verdict);
  return run(deps, admitted, { effect, args }, signal);
}

function argumentsOf(text: string): ToolArguments | undefined {
  // Many models send nothing for a tool without parameters.
  const args = callArguments(text.trim() === '' ? noArguments(text) : text);
  return args !== undefined && fitsRecord(args) ? args : undefined;
}

/** JSON may write a value longer than a model did: 1e20 takes 21 digits. */
const fitsRecord = (args: ToolArguments): boolean =>
  Buffer.byteLength(JSON.stringify(args)) <= conversationLimits.recordBytes;

const invalidArguments =
  `InvalidArguments: arguments must be one JSON object of at most ${conversationLimits.argumentsLength / 1024} KiB, ` +
  `${conversationLimits.recordBytes / 1024} KiB with all digits of its numbers, nested in ${limits.jsonDepth} levels at most`;

/** An empty text is what is left of arguments that were too long. */
const noArguments = (text: string): string => (text === '' ? text : '{}');

const refuse = ({ log, tell }: ConversationDeps, { call }: CallTool, content: string): Promise<void> =>
  record({ log, tell }, { kind: 'tool_ended', call_id: call.id, tool: call.name, content, is_error: true, ran: false });

interface Judged {
  readonly call: CallTool['call'];
  readonly args: ToolArguments;
  readonly budget: Budget;
}

const judgeSecondsDefault = 30;

/** Why the judge keeps the call from running; undefined where it may run. A verdict is asked for once. */
async function verdictOf(
  deps: ConversationDeps,
  tool: Tool,
  judged: Judged,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isJudged(deps, tool) || isUnderWay(deps, judged.call.id)) return undefined;
  const known = deps.log.state.verdicts.get(judged.call.id);
  if (known !== undefined) return known.allowed ? undefined : refusedBy(known.reason);
  try {
    return await askJudge(deps, judged, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof JudgeFailed)) throw error;
    return `JudgeFailed: ${error.message}; the call did not run`;
  }
}

function isJudged({ caller, toolbox }: ConversationDeps, tool: Tool): boolean {
  const validation = caller.agent.spec.execution?.tool_validation;
  return validation !== undefined && validation.enabled && toolbox.isJudged(tool);
}

async function askJudge(
  deps: ConversationDeps,
  { call, args, budget }: Judged,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { spec } = deps.caller.agent;
  const validation = spec.execution?.tool_validation;
  const withinMs = (validation?.timeout_seconds ?? judgeSecondsDefault) * 1_000;
  const asked = { task: deps.task.system, tool: call.name, arguments: args };
  const reply = await repeatable(deps, signal, (until) =>
    judgeCall({ models: deps.models, tenant: deps.caller.tenant, onWait: deps.onWait }, asked, {
      ...judgeAlias(spec, 'calls', validation?.model),
      budget,
      withinMs,
      signal: until,
    }),
  );
  // First: a reply without a verdict has taken its tokens too.
  await recordJudge(deps, reply);
  const { allowed, reason } = callVerdict(reply.content);
  await record(deps, { kind: 'call_judged', call_id: call.id, allowed, reason });
  return allowed ? undefined : refusedBy(reason);
}

const refusedBy = (reason: string): string => `ToolCallRefused: the judge of tool calls refused it: ${reason}`;

interface Running {
  readonly effect: CallTool;
  readonly args: ToolArguments;
}

async function run(deps: ConversationDeps, tool: Tool, running: Running, signal: AbortSignal): Promise<void> {
  const { call } = running.effect;
  const isAgain = isUnderWay(deps, call.id);
  if (!isAgain) {
    const most = deps.caller.security.max_calls;
    if (most !== undefined && !(await counts(deps, call.id, most, signal))) {
      return refuse(deps, running.effect, `${refusalText(callsSpent(most))}; answer without tools`);
    }
    await record(deps, { kind: 'tool_started', call_id: call.id, tool: tool.name, arguments: running.args });
  }
  const answered = await answerOf(deps, tool, { ...running, isAgain }, signal);
  await end(deps, running, answered);
  if (isOnceOnly(tool)) deps.outliving.taken(call.id);
}

/** Whether the call has begun, here or by another driver. */
const isUnderWay = ({ log }: ConversationDeps, callId: string): boolean => log.state.underWay?.call_id === callId;

/**
 * Ends a call that another driver began and that would be refused by now: what has begun may have run. The process that makes it may
 * still have its answer. A command in a pod is not waited for: without the tool, its result means nothing.
 */
async function endUnderWay(deps: ConversationDeps, running: Running, signal: AbortSignal): Promise<void> {
  const { id } = running.effect.call;
  const { dispatch } = deps.log.state.underWay ?? {};
  if (dispatch !== undefined) {
    return end(deps, running, { answer: unknownOutcome, dispatch_id: dispatch.dispatch_id });
  }
  await end(deps, running, { answer: await answerElsewhere(deps, id, signal) });
  deps.outliving.taken(id);
}

async function end(deps: ConversationDeps, { effect: { call }, args }: Running, answered: Answered): Promise<void> {
  const { id, name: tool } = call;
  const written = writtenEnd(deps, { id, tool, args }, answered);
  await record(deps, { kind: 'tool_ended', call_id: id, tool, ran: true, ...written });
}

/** Whether a process that made a call of it may still have its answer. */
const isOnceOnly = ({ run, idempotent }: Tool): boolean => run.kind === 'api' && !idempotent;

/** Signed calls of the execution share this count. A replica that dies behind it leaves the call to another one. */
function counts(
  { calls, clock, logger, caller, giveUp }: ConversationDeps,
  callId: string,
  most: number,
  signal: AbortSignal,
) {
  const account = { execution_id: caller.executionId ?? '', tenant: caller.tenant };
  return patiently({ clock, logger, signal, giveUp }, () => calls.take(account, most, callId));
}

async function answerOf(
  deps: ConversationDeps,
  tool: Tool,
  { effect, args, isAgain }: Running & { readonly isAgain: boolean },
  signal: AbortSignal,
): Promise<Answered> {
  const { caller, channel } = deps;
  try {
    if (tool.run.kind === 'api') {
      const { run } = tool;
      const named = { ...caller, callKey: effect.call.id };
      const once = (until: AbortSignal): Promise<ToolAnswer> => run.run(named, args, until);
      if (isOnceOnly(tool)) return { answer: await onceOnly(deps, { call: effect.call, once, isAgain }, signal) };
      return { answer: await repeatableAsOurselves(deps, signal, once) };
    }
    const onLost = (error: unknown): ToolAnswer => failedBy(deps, effect.call, error);
    return await answerByPod({ run: tool.run, caller, args, onLost }, (plan) =>
      channel.dispatch({ callId: effect.call.id, plan, isIdempotent: tool.idempotent }, signal),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (isMoving(error)) throw error;
    return { answer: failedBy(deps, effect.call, error) };
  }
}

interface OnceOnly {
  readonly call: CallTool['call'];
  readonly once: (signal: AbortSignal) => Promise<ToolAnswer>;
  readonly isAgain: boolean;
}

/** A call that cannot be made again: another driver may have begun it, in a process in which it continues. */
async function onceOnly(
  deps: ConversationDeps,
  { call, once, isAgain }: OnceOnly,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  if (isAgain) return answerElsewhere(deps, call.id, signal);
  return deps.outliving.run(call.id, (until) =>
    once(until).catch((error: unknown) => {
      until.throwIfAborted();
      return failedBy(deps, call, error);
    }),
  );
}

async function answerElsewhere(
  { outliving, giveUp }: ConversationDeps,
  callId: string,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  return (await repeatable({ giveUp }, signal, (until) => outliving.elsewhere(callId, until))) ?? unknownOutcome;
}

function failedBy(deps: ConversationDeps, { id, name: tool }: CallTool['call'], error: unknown): ToolAnswer {
  if (!(error instanceof AppError)) return lostAnswer(deps, { id, tool }, error);
  return { content: `${error.reason}: ${notYetMessage(error) ?? error.message}`, isError: true };
}

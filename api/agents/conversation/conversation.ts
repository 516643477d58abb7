import type { AgentResult } from '../../../crds/schema/agent-execution.ts';
import { judgeAlias } from '../../../lib/agent/asked-aliases.ts';
import { modelAliasOf } from '../../../lib/agent/model-alias.ts';
import { answerBound } from '../../../lib/conversation/budget.ts';
import { conversationLimits } from '../../../lib/conversation/limits.ts';
import { fitReply, jsonBytes } from '../../../lib/conversation/fit-reply.ts';
import { crowdedBy, fitting } from '../../../lib/conversation/messages.ts';
import { type Effect, failure, next } from '../../../lib/conversation/next.ts';
import { sizeOfAll } from '../../../lib/conversation/state.ts';
import { defined } from '../../../lib/defined.ts';
import { AppError } from '../../../lib/errors.ts';
import { least } from '../../../lib/least.ts';
import { lengthOfDefinitions } from '../../../lib/models/cost.ts';
import { ModelError } from '../../../lib/models/models.ts';
import { registeredTools } from '../calls/registered-offer.ts';
import { repeatable } from '../calls/repeatable.ts';
import { callTool } from '../calls/tool-call.ts';
import { listBytes } from '../registered/index.ts';
import { Parked } from '../verdicts/approvals.ts';
import { answerVerdict, type JudgedAnswer, JudgeFailed, judgeAnswer } from '../verdicts/judge.ts';
import { type ConversationDeps, type EffectOf, record, recordJudge } from './conversation-deps.ts';
import { isMoving, Stopped } from './log.ts';
import { isPassing, isUnnamed, namedEnd } from './named-end.ts';

/**
 * Drives a conversation to its end: decides, acts, writes down. Resolves to the result.
 * @throws Overtaken, Stopped, or the reason of `signal`. `isLeaving` is asked between two effects.
 */
export async function drive(
  deps: ConversationDeps,
  signal: AbortSignal,
  isLeaving: () => boolean,
): Promise<AgentResult> {
  const { log } = deps;
  for (;;) {
    signal.throwIfAborted();
    if (log.state.result !== undefined) return log.state.result;
    if (isLeaving()) throw new Stopped();
    const { agent, security } = deps.caller;
    await act(deps, next(log.state, agent.spec, security), signal);
  }
}

/** The meaning of an effect's error for the execution. */
async function act(deps: ConversationDeps, effect: Effect, signal: AbortSignal): Promise<void> {
  try {
    await perform(deps, effect, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isEnding(error)) throw error;
    if (isUnnamed(error)) deps.logger.error({ err: error }, 'conversation ended by an error');
    const { reason, message } = namedEnd(error);
    await end(deps, failure(deps.log.state, reason, message));
  }
}

/** Whether the execution fails of an error. A bug is thrown on: another attempt may be that of a version without it. */
const isEnding = (error: unknown): error is AppError | ModelError =>
  error instanceof ModelError || (error instanceof AppError && !isMoving(error) && !isPassing(error));

async function perform(deps: ConversationDeps, effect: Effect, signal: AbortSignal): Promise<void> {
  switch (effect.kind) {
    case 'start':
      return start(deps);
    case 'begin_iteration': {
      const { iteration, action, feedback } = effect;
      return record(deps, {
        kind: 'iteration_started',
        iteration,
        action,
        ...(feedback === undefined ? {} : { feedback }),
      });
    }
    case 'ask_model':
      return askModel(deps, effect, signal);
    case 'call_tool':
      await callTool(deps, effect, signal);
      return deps.holdCall(0);
    case 'judge_answer':
      return judge(deps, effect, signal);
    case 'complete_iteration': {
      const { kind: _kind, ...fields } = effect;
      return record(deps, { kind: 'iteration_completed', ...fields });
    }
    case 'end':
      return end(deps, effect.result);
    case 'none':
      return undefined;
  }
}

async function start(deps: ConversationDeps): Promise<void> {
  const { agent } = deps.caller;
  const { system, input, version } = deps.task;
  const model = modelAliasOf(agent.spec);
  requireRoom(system, input);
  await record(deps, { kind: 'started', agent_id: agent.uid, agent: agent.name, version, system, input, model });
}

/** @throws AppError `EventTooLarge` where the texts do not fit one record. */
function requireRoom(system: string, input: string): void {
  const [ofTask, ofInput, most] = [jsonBytes(system), jsonBytes(input), conversationLimits.recordBytes];
  if (ofTask + ofInput <= most) return;
  const message = `spec.input takes ${ofInput} bytes as JSON, and the instruction with what it quotes ${ofTask}; a conversation begins with ${most} at most`;
  throw new AppError('limit_exceeded', message, { reason: 'EventTooLarge' });
}

async function end(deps: ConversationDeps, result: Omit<AgentResult, 'at'>): Promise<void> {
  await record(deps, { kind: 'ended', result: { ...result, at: new Date(deps.clock.now()).toISOString() } });
}

async function askModel(deps: ConversationDeps, effect: EffectOf<'ask_model'>, signal: AbortSignal): Promise<void> {
  const { log, models, caller, tell } = deps;
  const { spec } = caller.agent;
  const alias = modelAliasOf(spec);
  const { provider, messages, modelCalls, isModelAsked } = log.state;
  if (!isModelAsked) {
    await record(deps, { kind: 'model_asked', iteration: effect.iteration, call: modelCalls + 1 });
  }
  const registered = await registeredTools(deps, signal);
  deps.holdList(listBytes(registered));
  const tools = [...deps.toolbox.offered(caller), ...registered];
  const limits = models.limitsOf(alias, provider);
  const definitions = lengthOfDefinitions({ tools, ...defined({ outputSchema: spec.output_schema }) });
  const most = least(effect.budget.tokens, limits?.maxOutputTokens) ?? 0;
  const window = { contextWindow: limits?.contextWindow, maxOutputTokens: most, definitions };
  const { messages: sent, leftOut, isCrowded } = fitting(await deps.soundOf(messages), window);
  const noRoom = isCrowded ? crowdedBy(alias, window) : undefined;
  const bound = answerBound(effect.budget, { units: definitions + sizeOfAll(sent), alias, limits });
  const maxOutputTokens = least(bound, limits?.maxOutputTokens);
  const question = {
    alias,
    tenant: caller.tenant,
    messages: sent,
    tools,
    ...defined({ provider, maxOutputTokens, outputSchema: spec.output_schema }),
    onText: (text: string) => tell({ text }),
    onWait: deps.onWait,
  };
  const reply = await repeatable(deps, signal, (until) => models.ask({ ...question, signal: until })).catch(
    (error: unknown) => {
      throw withRoom(error, noRoom);
    },
  );
  const left = defined({ left_out: leftOut === 0 ? undefined : leftOut, no_room: noRoom });
  await record(deps, { kind: 'model_replied', ...fitReply(reply, log.state.modelCalls), ...left });
}

/** A provider that finds the conversation too long does not know what else takes its context. */
function withRoom(error: unknown, noRoom: string | undefined): unknown {
  if (noRoom === undefined || !(error instanceof ModelError) || error.failure !== 'ContextTooLong') return error;
  return new ModelError(error.failure, `${error.message}; ${noRoom}`);
}

/** Time of the model that judges an answer. */
const judgeMs = 120_000;

async function judge(deps: ConversationDeps, effect: EffectOf<'judge_answer'>, signal: AbortSignal): Promise<void> {
  const { iteration } = effect;
  const { agent } = deps.caller.agent.spec.execution?.validation ?? {};
  const verdict =
    agent === undefined ? await judgeByModel(deps, effect, signal) : await judgeByAgent(deps, effect, agent);
  await record(deps, { kind: 'iteration_judged', iteration, ...verdict });
}

function judgedAnswer({ caller, task }: ConversationDeps, answer: string): JudgedAnswer {
  const { criteria } = caller.agent.spec.execution?.validation ?? {};
  return { task: task.system, input: task.input, answer, ...(criteria === undefined ? {} : { criteria }) };
}

async function judgeByModel(deps: ConversationDeps, effect: EffectOf<'judge_answer'>, signal: AbortSignal) {
  const { models, caller } = deps;
  const { spec } = caller.agent;
  const { model } = spec.execution?.validation ?? {};
  const question = { ...judgeAlias(spec, 'answers', model), budget: effect.budget, withinMs: judgeMs };
  const reply = await repeatable(deps, signal, (until) =>
    judgeAnswer({ models, tenant: caller.tenant, onWait: deps.onWait }, judgedAnswer(deps, effect.answer), {
      ...question,
      signal: until,
    }),
  );
  // A replica that dies behind this asks the model anew: both replies have taken their tokens.
  await recordJudge(deps, reply);
  return answerVerdict(reply.content);
}

/** Nothing is held meanwhile: the replica that continues finds the same execution of the judge (ADR 0112). */
async function judgeByAgent(deps: ConversationDeps, effect: EffectOf<'judge_answer'>, agent: string) {
  const { judges, execution, caller } = deps;
  const { iteration, budget } = effect;
  const answer = judgedAnswer(deps, effect.answer);
  const result = await judges.result({ execution, caller, agent, iteration, answer, budget });
  if (result === undefined) throw new Parked();
  const { output, ...usage } = result;
  try {
    if (output instanceof JudgeFailed) throw output;
    return { ...answerVerdict(output), ...usage };
  } catch (error) {
    // No verdict will have them in its record.
    await recordJudge(deps, usage);
    throw error;
  }
}

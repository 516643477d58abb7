import type { AgentResult } from '../../crds/schema/agent-execution.ts';
import { defined } from '../defined.ts';
import { AppError } from '../errors.ts';
import type { ModelMessage, ModelToolCall } from '../models/models.ts';
import { argumentBytes, type HeldParts, ownArgumentBytes } from './held-bytes.ts';
import { conversationLimits } from './limits.ts';
import type { ConversationRecord, Usage } from './record.ts';

type RecordOf<K extends ConversationRecord['kind']> = Extract<ConversationRecord, { kind: K }>;

/** A tool call that has begun and not ended. */
export interface CallUnderWay {
  readonly call_id: string;
  readonly tool: string;
  readonly arguments: unknown;
  /** The pod that was given its command last. */
  dispatch?: { readonly dispatch_id: string; readonly pod_uid: string };
}

/** A signed call that has not ended. */
export interface SignedUnderWay extends CallUnderWay {
  /** RFC 3339. */
  readonly at: string;
  /** Bytes of heap of its arguments, about. */
  readonly bytes: number;
}

interface Approval {
  readonly asked: RecordOf<'approval_asked'>;
  readonly given?: RecordOf<'approval_given'>;
}

/** The state that a log of records yields, which `fold` alone writes, and what `hold` counts beside it. */
export interface ConversationState extends HeldParts {
  started: RecordOf<'started'> | undefined;
  /** Replicas that have taken the conversation over since any other record. */
  readonly takenOverBy: Set<string>;
  /** Number of the iteration under way or ended last; 0 before the first. */
  iteration: number;
  /** The iteration under way has ended. */
  isIterationOver: boolean;
  /** Questions to the model in all. */
  modelCalls: number;
  /** A question was sent and no reply is recorded. */
  isModelAsked: boolean;
  readonly messages: ModelMessage[];
  /** Calls of the last reply that have not ended, in order. */
  calls: ModelToolCall[];
  underWay: CallUnderWay | undefined;
  /** Signed calls that have not ended, by their id, in order. */
  readonly signed: Map<string, SignedUnderWay>;
  /** Verdicts of the judge of tool calls, by call. */
  readonly verdicts: Map<string, RecordOf<'call_judged'>>;
  /** Calls that a person was asked about, with what came of it. */
  readonly approvals: Map<string, Approval>;
  /** Keys of what the pod has said. */
  readonly podSaid: Set<string>;
  /** Sayings of the pod since the model was asked: no text comes between a question, its calls and their answers. */
  unasked: ModelMessage[];
  /** Dispatches under way, and the last that have ended, each with the hash of its result (ADR 0160). */
  readonly dispatches: Map<string, string | undefined>;
  /** Text of the last reply, where it calls no tool and is not completed. */
  answer: { readonly text: string; readonly isCut: boolean } | undefined;
  judged: RecordOf<'iteration_judged'> | undefined;
  /** Executions of judges whose tokens are counted. */
  readonly judges: Set<string>;
  completed: RecordOf<'iteration_completed'> | undefined;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | undefined;
  provider: string | undefined;
  model: string | undefined;
  result: AgentResult | undefined;
}

export const emptyState = (): ConversationState => ({
  started: undefined,
  takenOverBy: new Set(),
  iteration: 0,
  isIterationOver: true,
  modelCalls: 0,
  isModelAsked: false,
  messages: [],
  calls: [],
  underWay: undefined,
  callBytes: 0,
  signed: new Map(),
  verdicts: new Map(),
  approvals: new Map(),
  podSaid: new Set(),
  unasked: [],
  dispatches: new Map(),
  answer: undefined,
  judged: undefined,
  judges: new Set(),
  completed: undefined,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: undefined,
  provider: undefined,
  model: undefined,
  result: undefined,
  bytes: 0,
  signedBytes: 0,
  listBytes: 0,
});

type Folder<K extends ConversationRecord['kind']> = (state: ConversationState, record: RecordOf<K>) => void;

/** A kind without a folder fails to compile. */
const folders: { readonly [K in ConversationRecord['kind']]: Folder<K> } = {
  started(state, record) {
    state.started = record;
    say(state, { role: 'system', content: record.system });
    say(state, { role: 'user', content: record.input });
  },
  taken_over: (state, { by }) => void state.takenOverBy.add(by),
  iteration_started(state, { iteration, feedback }) {
    state.iteration = iteration;
    state.isIterationOver = false;
    state.judged = undefined;
    if (feedback !== undefined) say(state, { role: 'user', content: feedback });
  },
  model_asked(state) {
    state.modelCalls += 1;
    state.isModelAsked = true;
  },
  model_replied: foldReply,
  judge_replied: countJudge,
  call_judged: (state, record) => void state.verdicts.set(record.call_id, record),
  approval_asked: (state, asked) => void state.approvals.set(asked.call_id, { asked }),
  approval_given(state, given) {
    const approval = state.approvals.get(given.call_id);
    if (approval !== undefined) state.approvals.set(given.call_id, { ...approval, given });
  },
  tool_started(state, { call_id, tool, arguments: args }) {
    state.underWay = { call_id, tool, arguments: args };
    state.callBytes = ownArgumentBytes(args);
  },
  dispatched(state, { call_id, dispatch_id, pod_uid }) {
    const call = state.underWay?.call_id === call_id ? state.underWay : state.signed.get(call_id);
    if (call !== undefined) call.dispatch = { dispatch_id, pod_uid };
    rememberDispatch(state, dispatch_id, undefined);
  },
  pod_said(state, { key, texts }) {
    // Older versions wrote the same down twice where two requests said it at once.
    if (state.podSaid.has(key)) return;
    state.podSaid.add(key);
    const messages = texts.map((content) => ({ role: 'user' as const, content }));
    for (const message of messages) state.bytes += bytesOf(message);
    state.unasked.push(...messages);
  },
  signed_call(state, { call_id, tool, arguments: args, at }) {
    forgetSigned(state, call_id);
    const bytes = argumentBytes(args);
    state.signed.set(call_id, { call_id, tool, arguments: args, at, bytes });
    state.signedBytes += bytes;
  },
  signed_ended(state, { call_id, dispatch_id, result_hash }) {
    forgetSigned(state, call_id);
    if (dispatch_id !== undefined) rememberDispatch(state, dispatch_id, result_hash);
  },
  tool_ended: foldToolEnd,
  iteration_judged(state, record) {
    state.judged = record;
    const { input_tokens = 0, output_tokens = 0, cost_usd, judge } = record;
    countJudge(state, { input_tokens, output_tokens, ...defined({ cost_usd, judge }) });
  },
  iteration_completed(state, record) {
    state.isIterationOver = true;
    state.completed = record;
    state.answer = undefined;
  },
  ended: (state, { result }) => void (state.result = result),
};

/** Takes one record into the state. @throws AppError `unavailable` (`ConversationTooNew`) for a kind that this version lacks. */
export function fold(state: ConversationState, record: ConversationRecord): void {
  // The kind picks the folder and the record together, which the type system cannot see through a union.
  const folder = folders[record.kind] as Fold | undefined;
  if (folder === undefined) throw tooNew(record);
  if (record.kind !== 'taken_over') state.takenOverBy.clear();
  folder(state, record);
  if (state.unasked.length > 0 && mayBeAsked(state)) state.messages.push(...state.unasked.splice(0));
}

/** Whether the next question may hold more: no question, call or answer is under way. */
const mayBeAsked = ({ started, isModelAsked, calls, answer, result }: ConversationState): boolean =>
  started !== undefined && !isModelAsked && calls.length === 0 && answer === undefined && result === undefined;

type Fold = (state: ConversationState, record: ConversationRecord) => void;

/** A replica of the newer version may drive it: to this one it is out of reach, and it fails by its deadline at most. */
const tooNew = ({ kind, at }: { readonly kind: string; readonly at: string }): AppError =>
  new AppError(
    'unavailable',
    `a newer version of Windlass wrote the record ${kind} of ${at} of this conversation; a replica of that version continues it`,
    { reason: 'ConversationTooNew' },
  );

function foldReply(state: ConversationState, record: RecordOf<'model_replied'>): void {
  const { content, tool_calls: calls, provider, model } = record;
  state.isModelAsked = false;
  state.provider = provider;
  state.model = model;
  count(state, record);
  state.calls = [...calls];
  say(state, calls.length === 0 ? { role: 'assistant', content } : { role: 'assistant', content, tool_calls: calls });
  const isCut = record.cut === true || record.stop === 'length';
  // An answer to a question without what the pod has said meanwhile is none: the model is asked again.
  const isAnswer = calls.length === 0 && state.unasked.length === 0;
  state.answer = isAnswer ? { text: content, isCut } : undefined;
}

function foldToolEnd(state: ConversationState, record: RecordOf<'tool_ended'>): void {
  const { call_id, tool, content, ran, dispatch_id, result_hash } = record;
  state.underWay = undefined;
  state.callBytes = 0;
  state.calls = state.calls.filter(({ id }) => id !== call_id);
  if (ran) state.toolCalls += 1;
  if (dispatch_id !== undefined) rememberDispatch(state, dispatch_id, result_hash);
  say(state, { role: 'tool', tool_call_id: call_id, name: tool, content });
}

/** The newest at the end. A pod runs one command at a time, so that it reports none again behind so many others. */
function rememberDispatch(state: ConversationState, id: string, resultHash: string | undefined): void {
  const { dispatches } = state;
  if (!dispatches.delete(id)) state.bytes += dispatchBytes;
  dispatches.set(id, resultHash);
  if (dispatches.size <= conversationLimits.dispatchesKept) return;
  const oldest = dispatches.keys().find((one) => !isDispatchUnderWay(state, one));
  if (oldest !== undefined && dispatches.delete(oldest)) state.bytes -= dispatchBytes;
}

/** Bytes of heap that an id with its hash takes, about. */
const dispatchBytes = 512;

/** Whether the call of a dispatch has not ended. */
export const isDispatchUnderWay = (
  { underWay, signed }: Pick<ConversationState, 'underWay' | 'signed'>,
  dispatchId: string,
): boolean => [underWay, ...signed.values()].some((call) => call?.dispatch?.dispatch_id === dispatchId);

function count(state: ConversationState, { input_tokens: read, output_tokens: written, cost_usd: cost }: Usage): void {
  state.inputTokens += read;
  state.outputTokens += written;
  if (cost !== undefined) state.costUsd = (state.costUsd ?? 0) + cost;
}

/** A replica that repeats a step finds the same execution of the judge, whose tokens were spent once. */
function countJudge(state: ConversationState, { judge, ...usage }: Usage & { readonly judge?: string }): void {
  if (judge !== undefined && state.judges.has(judge)) return;
  if (judge !== undefined) state.judges.add(judge);
  count(state, usage);
}

function say(state: ConversationState, message: ModelMessage): void {
  state.messages.push(message);
  state.bytes += bytesOf(message);
}

function forgetSigned(state: ConversationState, callId: string): void {
  state.signedBytes -= state.signed.get(callId)?.bytes ?? 0;
  state.signed.delete(callId);
}

/** Bytes of heap that a message takes, about. */
export const bytesOf = (message: ModelMessage): number => sizeOf(message) * 2;

/** Text units of a message. */
export function sizeOf(message: ModelMessage): number {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  return calls.reduce((sum, call) => sum + call.arguments.length + call.name.length + 32, message.content.length + 32);
}

export const sizeOfAll = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + sizeOf(message), 0);

import type { AuditTrail, EventSink } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import {
  type CallCounter,
  type CallSender,
  type CallsUnderWay,
  createRefusalNotes,
  type Envelope,
  EnvelopeError,
  type NamedTenant,
  type NoteRefusal,
  namedTenant,
  type ProofPool,
  type ProveEnvelope,
  type RefusalEvent,
  readEnvelope,
  refusedCall,
  requireNamedTenant,
  type SealSession,
  type SessionName,
  sessionKey,
  tenantInArguments,
  unlessRevoked,
  type Vouch,
} from '../../../lib/envelope/index.ts';
import { callError, refusalError } from '../../../lib/envelope/rpc-error.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import type { RateLimit } from '../../../lib/http/rate-limit.ts';
import { defineRoute, json, type Reply, type Route } from '../../../lib/http/route.ts';
import { isServerStopping } from '../../../lib/http/server-stops.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import type { NewId } from '../../../lib/ids.ts';
import { isJsonObject } from '../../../lib/json-object.ts';
import { failure } from '../../../lib/tools/answers.ts';
import { approvalProblem } from '../../../lib/tools/needs-approval.ts';
import { callsSpent } from '../../../lib/tools/refusals.ts';
import {
  isRefusal,
  type Tool,
  type ToolAnswer,
  type ToolArguments,
  type Toolbox,
  type ToolCaller,
  type ToolRefusal,
} from '../../../lib/tools/tool.ts';
import { raiseStorageEvent } from '../../agents/conversation/storage-event.ts';
import type { ContainerCalls } from '../../agents/pods/container-calls.ts';
import { invokeTool, invokeToolAlias } from './contract.ts';

export interface SealInvokeDeps {
  readonly audit: AuditTrail;
  readonly clock: Clock;
  readonly prove: ProveEnvelope;
  readonly proofs: ProofPool;
  /** Calls enter it before their session is read: a revocation waits for their end. */
  readonly admission: Pick<CallsUnderWay, 'enter'>;
  readonly vouch: Vouch;
  /** Counts a call once its signature is proved: before that, any sender could use up another tenant's share. */
  readonly rateLimit: RateLimit;
  readonly toolbox: Toolbox;
  /** Counts calls where the SecurityContext bounds them. */
  readonly calls: CallCounter;
  /** Whose calls those of a session are; undefined where its execution runs no more. */
  readonly callerOf: (session: SessionName) => Promise<ToolCaller | undefined>;
  readonly events: EventSink;
  readonly newId: NewId;
  /** Runs tools in the containers of executions. */
  readonly container: ContainerCalls;
}

interface Call {
  readonly rawHeaders: Parameters<typeof namedTenant>[0];
  readonly body: Buffer;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
  ofTenant(tenant: string): void;
}

/** The invocation lane (spec 3 §4.2, §5.2, §7.2). The judge of tool calls has no part in it (TOOL-RULE-03). */
export function createSealInvokeRoutes(deps: SealInvokeDeps): Route<Caller>[] {
  const noteRefusal = createRefusalNotes({
    clock: deps.clock,
    write: (event, { execution_id }) => recordRefusal(deps.audit, event, execution_id),
  });
  const handle = async (call: Call): Promise<Reply> => {
    const { rawHeaders, body, remoteAddress: address, signal } = call;
    const sender = { address, signal };
    const envelope = await readOrRefuse(deps, noteRefusal, { body, sender });
    call.ofTenant(envelope.session.tenant);
    try {
      return await enterAndInvoke(deps, { envelope, named: namedTenant(rawHeaders), sender });
    } catch (error) {
      throw isAnswer(error) ? error : callError(await noteRefusal(error, envelope.tool), envelope.id);
    }
  };
  return [
    defineRoute<typeof invokeTool, Caller>(invokeTool, handle),
    defineRoute<typeof invokeToolAlias, Caller>(invokeToolAlias, handle),
  ];
}

/** Refusals of tools come with their JSON-RPC body already. */
const isAnswer = (error: unknown): boolean => error instanceof HttpError && error.options.body !== undefined;

/** Writes that a call was refused, of which the caller hears whether or not that is stored. */
function recordRefusal(audit: AuditTrail, { type, tenant = '', subject, data }: RefusalEvent, executionId: string) {
  audit.record({ type, by: { subject, tenant }, subject: executionId, data });
}

interface Unread {
  readonly body: Buffer;
  readonly sender: CallSender;
}

async function readOrRefuse(
  { vouch }: SealInvokeDeps,
  noteRefusal: NoteRefusal,
  { body, sender }: Unread,
): Promise<Envelope> {
  try {
    await vouch(body, sender);
    return readEnvelope(body);
  } catch (error) {
    throw callError(await noteRefusal(error, ''), null);
  }
}

interface ReadCall {
  readonly envelope: Envelope;
  /** Tenant that a header names. */
  readonly named: NamedTenant;
  readonly sender: CallSender;
}

async function enterAndInvoke(deps: SealInvokeDeps, call: ReadCall): Promise<Reply> {
  const { signal: outer } = call.sender;
  using entry = deps.admission.enter(sessionKey(call.envelope.session), outer);
  try {
    return await invoke(deps, call, { signal: entry.signal, outer });
  } catch (error) {
    throw isAnswer(error) ? error : unlessRevoked(error, entry.signal);
  }
}

interface Signals {
  /** Aborts with `outer`, and when the session is revoked and the call does not end in its time. */
  readonly signal: AbortSignal;
  /** That of the request. */
  readonly outer: AbortSignal;
}

async function invoke(deps: SealInvokeDeps, call: ReadCall, signals: Signals): Promise<Reply> {
  const { signal } = signals;
  const { envelope, named, sender } = call;
  const session = await deps.proofs.run(envelope.token, { ...sender, signal }, () => deps.prove(envelope));
  await deps.rateLimit.take(session.tenant);
  // No built-in tool has an argument of this name.
  requireNamedTenant(session, named, ...envelope.named, tenantInArguments(envelope.arguments, undefined));
  const admitted = await admit(deps, { session, envelope });
  const { content, isError } = await run(deps, admitted, signals);
  return json({ jsonrpc: '2.0', id: envelope.id, result: { content: [{ type: 'text', text: content }], isError } });
}

interface ProvedCall {
  readonly session: SealSession;
  readonly envelope: Envelope;
}

/** @throws the answer of a call that is refused, whose event is written by then. */
async function admit(deps: SealInvokeDeps, proved: ProvedCall): Promise<AdmittedCall> {
  const { session, envelope } = proved;
  const note = (refusal: Pick<ToolRefusal, 'code'>): void =>
    recordRefusal(deps.audit, refusedCall(session, envelope.tool, refusal), session.execution_id);
  const refuse = (refusal: ToolRefusal): never => {
    note(refusal);
    throw refusalError(refusal, envelope.id);
  };
  // Its maker chose the execution id, which so proves no agent; the gateway takes its calls, within its security context.
  if (session.registered !== undefined) return refuse(sessionOfOperator);
  const caller = await deps.callerOf(session);
  if (caller === undefined) {
    note({ code: 'session_inactive' });
    throw new EnvelopeError('session_inactive', 'the execution of this session does not run');
  }
  const tool = deps.toolbox.admit(caller, envelope.tool, envelope.arguments);
  if (isRefusal(tool)) {
    raiseDenied(deps, { caller, envelope }, tool);
    return refuse(tool);
  }
  const problem = approvalProblem(caller, tool.name) ?? containerProblem(deps, { caller, tool, envelope });
  if (problem !== undefined) return refuse(problem);
  const most = caller.security.max_calls;
  if (most !== undefined && !(await deps.calls.take(session, most))) return refuse(callsSpent(most));
  return { caller, tool, envelope };
}

const sessionOfOperator: ToolRefusal = {
  kind: 'policy',
  code: 'OperatorSession',
  message: 'an operator made the session of this execution_id; send the call to the tool gateway',
};

/** Calls of file tools that the policy refuses are StorageEvents (requirements AMB-199). */
function raiseDenied(
  { clock, events, newId }: SealInvokeDeps,
  { caller, envelope }: Omit<AdmittedCall, 'tool'>,
  refusal: ToolRefusal,
): void {
  const { tool, arguments: args } = envelope;
  if (refusal.kind === 'policy' && isJsonObject(args))
    raiseStorageEvent({ clock, events, caller }, { id: newId(), tool, args, outcome: 'denied' });
}

/** Before the call is counted: it could not run. */
function containerProblem({ container }: SealInvokeDeps, { caller, tool, envelope }: AdmittedCall) {
  if (tool.run.kind !== 'pod') return undefined;
  return container.problem({ caller, tool: tool.name, args: envelope.arguments as ToolArguments });
}

interface AdmittedCall {
  readonly caller: ToolCaller;
  readonly tool: Tool;
  readonly envelope: Envelope;
}

/** Runs the tool between two audit events: one of the intent, one of the outcome. Neither holds arguments or results. */
async function run({ audit, ...deps }: SealInvokeDeps, call: AdmittedCall, signals: Signals): Promise<ToolAnswer> {
  const { signal } = signals;
  signal.throwIfAborted();
  const { caller, tool } = call;
  const entry = { by: caller, subject: caller.executionId ?? caller.agent?.uid ?? '' };
  audit.record({ ...entry, type: 'ToolInvoked', data: { tool: tool.name } });
  let outcome = 'error';
  try {
    const answer = await answerOf(deps, call, signals);
    outcome = answer.isError ? 'tool_error' : 'ok';
    return answer;
  } catch (error) {
    if (!isServerStopping(signal) || tool.idempotent) throw error;
    return failure('OutcomeUnknown', `the replica stopped; ${tool.name} may have run, look before you call it again`);
  } finally {
    audit.record({ ...entry, type: 'ToolInvocationEnded', data: { tool: tool.name, outcome } });
  }
}

async function answerOf(
  { container }: Pick<SealInvokeDeps, 'container'>,
  { caller, tool, envelope }: AdmittedCall,
  { signal, outer }: Signals,
): Promise<ToolAnswer> {
  const args = envelope.arguments as ToolArguments;
  if (tool.run.kind === 'api') return tool.run.run(caller, args, signal);
  // A command that the driver has taken cannot be called back: the revocation waits for its end.
  return container.run({ caller, tool: tool.name, args }, outer);
}

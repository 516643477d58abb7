import { limits } from '../../crds/limits.ts';
import type { AuditChain } from '../../lib/audit-chain/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { isTimeUp, startDeadline } from '../../lib/deadline.ts';
import {
  type CallCounter,
  type CallSender,
  type CallsUnderWay,
  type Envelope,
  type NamedTenant,
  type ProofPool,
  type ProveEnvelope,
  refusedCall,
  requireNamedTenant,
  type SealSession,
  sessionKey,
  sessionSubject,
  tenantInArguments,
  unlessRevoked,
} from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import type { RateLimit } from '../../lib/http/rate-limit.ts';
import { newUuid } from '../../lib/ids.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { givenArguments } from '../../lib/tools/arguments.ts';
import { callsSpent } from '../../lib/tools/refusals.ts';
import type { ToolRefusal } from '../../lib/tools/tool.ts';
import { RefusedCall } from '../tools/refused-call.ts';
import { argumentsProblem, sessionProblem, type ToolRegistry } from '../tools/tool-registry.ts';
import type { GatewayAnswer, GatewayCaller, GatewayTool, JsonObject } from '../tools/tool-source.ts';
import { withSchema } from '../tools/whole-schema.ts';
import type { SecurityOf } from './security-of.ts';

export interface InvokeDeps {
  readonly audit: AuditChain;
  readonly calls: CallsUnderWay;
  readonly clock: Clock;
  readonly counter: CallCounter;
  readonly prove: ProveEnvelope;
  readonly proofs: ProofPool;
  /** Counts a call once its signature is proved: before that, any caller could use up the share of a tenant. */
  readonly rateLimit: RateLimit;
  readonly registry: ToolRegistry;
  readonly securityOf: SecurityOf;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
}

/** Facts of a call beside its envelope. */
interface CallWay {
  /** Noted in its events; absent for an envelope. */
  readonly via?: 'mcp';
  /** Tenant that a header names (`namedTenant`). */
  readonly named?: NamedTenant;
}

/** Runs one call of the invocation lane to its answer. */
export type Invoke = (envelope: Envelope, sender: CallSender, way?: CallWay) => Promise<GatewayAnswer>;

/** Tools that run at once in one replica, and calls that wait for their turn. */
const runs = { size: 512, waiting: 1_024, waitMs: 10_000 };
/** Longest time of one call, the wait included: the longest CLI tool ends before. */
const callMs = limits.toolCallSeconds * 1_000;

/**
 * The order of a call (design §13): session, token, signature, freshness and replay, pattern; policy; arguments; a place; the
 * count of calls; audit of the intent; the call; audit of the outcome. The first that fails ends it, before a byte leaves for anywhere else.
 */
export function createInvoke(deps: InvokeDeps): Invoke {
  const running = createFairPool({ ...runs, clock: deps.clock });
  return async (envelope, { address, signal: outer }, { via, named } = {}) => {
    using call = deps.calls.enter(sessionKey(envelope.session), outer);
    using deadline = startDeadline(deps.clock, callMs, call.signal);
    const { signal } = deadline;
    try {
      const session = await deps.proofs.run(envelope.token, { address, signal }, () => deps.prove(envelope));
      await deps.rateLimit.take(session.tenant);
      requireNamedTenant(session, ...(named === undefined ? [] : [named]), ...envelope.named);
      return await run(deps, { envelope, session, running, signal, via });
    } catch (error) {
      if (isTimeUp(signal)) throw new AppError('timeout', 'the time of the call is up', { cause: error });
      throw unlessRevoked(error, call.signal);
    }
  };
}

interface ProvedCall {
  readonly envelope: Envelope;
  readonly session: SealSession;
  readonly running: FairPool;
  readonly signal: AbortSignal;
  readonly via: 'mcp' | undefined;
}

async function run(deps: InvokeDeps, proved: ProvedCall): Promise<GatewayAnswer> {
  const { session, running, signal, via } = proved;
  const admitted = await admit(deps, proved);
  const { caller, tool } = admitted;
  return running.run({ tenant: session.tenant, signal }, async () => {
    signal.throwIfAborted();
    // A call that finds no place has not been made.
    await count(deps, proved, admitted);
    const entry = { tenant: caller.tenant, subject: caller.subject, invocationId: newUuid() };
    const about = { tool: tool.name, source: tool.source, execution_id: caller.executionId, ...through(via) };
    return audited(deps, { ...admitted, signal, entry, about });
  });
}

interface AuditedCall extends AdmittedCall {
  readonly signal: AbortSignal;
  readonly entry: { readonly tenant: string | undefined; readonly subject: string; readonly invocationId: string };
  readonly about: Readonly<Record<string, unknown>>;
}

/**
 * The call between the audit of its intent and of its outcome. Nothing of it leaves the process before the intent is stored;
 * of what fails, a failure of the audit is the caller's answer. Events that need not wait for one another share a write.
 */
async function audited(deps: InvokeDeps, call: AuditedCall): Promise<GatewayAnswer> {
  // Memory that counts for an answer is given back where the answer is lost.
  using owned = new DisposableStack();
  const answer = await between(deps, call, owned);
  owned.move();
  return answer;
}

async function between(
  { audit, clock }: InvokeDeps,
  call: AuditedCall,
  owned: DisposableStack,
): Promise<GatewayAnswer> {
  const { caller, tool, args, signal, entry, about } = call;
  const intent = inTime(audit.append({ type: 'ToolInvocationStarted', ...entry, data: about }));
  if (tool.awaitsIntent !== true) await intent;
  const last: Promise<void>[] = [];
  let outcome = 'error';
  const from = clock.now();
  try {
    const closing = (stored: Promise<void>): void => void last.push(inTime(stored));
    const answer = await tool.call(caller, args, { signal, invocationId: entry.invocationId, intent, closing });
    if (answer.json !== undefined) owned.use(answer.held);
    outcome = answer.isError ? 'tool_error' : 'ok';
    return answer;
  } finally {
    await intent;
    const data = { ...about, outcome, duration_ms: clock.now() - from };
    // The intent is stored: an answer that is lost would make its caller act twice.
    last.push(audit.append({ type: 'ToolInvocationCompleted', ...entry, data }).catch(ignore));
    await Promise.all(last);
  }
}

const ignore = (): undefined => undefined;

/** The same promise: its rejection ends no process that waits for it later. */
function inTime(storing: Promise<void>): Promise<void> {
  storing.catch(ignore);
  return storing;
}

interface AdmittedCall {
  readonly caller: GatewayCaller;
  readonly tool: GatewayTool;
  readonly args: JsonObject;
}

const through = (via: 'mcp' | undefined) => (via === undefined ? {} : { via });

/** @throws RefusedCall, after an event of it, where that can be stored. */
async function admit(deps: InvokeDeps, proved: ProvedCall): Promise<AdmittedCall> {
  const checked = await check(deps, proved.envelope, proved.session);
  return 'kind' in checked ? refuse(deps, proved, checked) : checked;
}

/** @throws RefusedCall where the execution has made its calls. */
async function count(deps: InvokeDeps, proved: ProvedCall, { caller }: AdmittedCall): Promise<void> {
  const { max_calls: most } = caller.security;
  if (most === undefined || (await deps.counter.take(proved.session, most))) return;
  await refuse(deps, proved, callsSpent(most));
}

async function refuse({ audit }: InvokeDeps, proved: ProvedCall, refusal: ToolRefusal): Promise<never> {
  const { envelope, session, via } = proved;
  const event = refusedCall(session, envelope.tool, refusal);
  // A refusal that cannot be written is a refusal still.
  await audit.append({ ...event, data: { ...event.data, ...through(via) } }).catch(ignore);
  throw new RefusedCall(refusal);
}

async function check(deps: InvokeDeps, envelope: Envelope, session: SealSession): Promise<AdmittedCall | ToolRefusal> {
  const { registry, securityOf, tenants } = deps;
  const tenant = tenantOf(session);
  const found = registry.find(tenant, envelope.tool);
  await requireOwnArguments(session, found, envelope.arguments);
  if (found === undefined) return unknownTool(envelope.tool);
  const { security_context: securityContextName } = session;
  const security = securityOf(tenant, securityContextName);
  if (security === undefined) return noContext(securityContextName);
  const args = envelope.arguments;
  const tool = sessionProblem(session, security, found.name) ?? (await fittingTool(found, args));
  if ('kind' in tool) return tool;
  if (!isJsonObject(args)) throw new AppError('internal', 'arguments that are no object passed their check');
  const caller: GatewayCaller = {
    tenant,
    subject: sessionSubject(session),
    executionId: session.execution_id,
    security,
    scopes: session.scopes ?? [],
    registered: session.registered !== undefined,
    namespace: tenant === undefined ? undefined : tenants.namespaceOf(tenant),
  };
  return { caller, tool, args: givenArguments(tool.input_schema, args) };
}

/**
 * Before any policy: a tenant that is named belongs to the proof of the call, but only the tool's schema says whether its
 * arguments name one. @throws EnvelopeError `tenant_mismatch`
 */
async function requireOwnArguments(session: SealSession, found: GatewayTool | undefined, args: unknown): Promise<void> {
  const { tenant } = tenantInArguments(args, undefined);
  if (tenant === '' || tenant === session.tenant) return;
  const tool = found && (await withSchema(found));
  requireNamedTenant(session, tenantInArguments(args, tool?.input_schema));
}

/** The tool with its schema, which the arguments fit, or why it is not called: a tool that refuses all calls looks at them first. */
async function fittingTool(found: GatewayTool, args: unknown): Promise<GatewayTool | ToolRefusal> {
  const tool = await withSchema(found);
  return tool === undefined ? unknownTool(found.name) : (misfit(tool, args) ?? tool.refusal ?? tool);
}

/** A tool that the controllers refuse says so itself, whatever its arguments are: its schema may be the cause. */
const misfit = (tool: GatewayTool, args: unknown): ToolRefusal | undefined =>
  tool.notReady !== undefined && isJsonObject(args) ? undefined : argumentsProblem(tool, args);

/** A session of the bypass belongs to no tenant. */
const tenantOf = ({ tenant }: SealSession): string | undefined => (tenant === '' ? undefined : tenant);

const policy = (code: string, message: string): ToolRefusal => ({ kind: 'policy', code, message });
const noContext = (name: string): ToolRefusal =>
  policy('SecurityContextNotFound', `there is no security context ${name}; make it, or make a session for another`);

const unknownTool = (name: string): ToolRefusal => ({
  kind: 'unknown_tool',
  code: 'UnknownTool',
  message: `there is no tool ${JSON.stringify(name.slice(0, 128))}; GET /v1/tools names those there are`,
});

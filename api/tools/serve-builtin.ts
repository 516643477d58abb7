import type { EventBus, Responder } from '../../lib/bus/index.ts';
import { busLimits } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { cutText } from '../../lib/cut-text.ts';
import { startDeadline } from '../../lib/deadline.ts';
import { AppError } from '../../lib/errors.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { fleetScopes } from '../../lib/tools/fleet-rights.ts';
import { approvalProblem } from '../../lib/tools/needs-approval.ts';
import { refusalText } from '../../lib/tools/refusals.ts';
import {
  type BuiltinCall,
  builtinCallsService,
  builtinListService,
  builtinStopService,
  readBuiltinCall,
} from '../../lib/tools/remote.ts';
import { isRefusal, type ToolAnswer, type Toolbox, type ToolCaller } from '../../lib/tools/tool.ts';

interface ServeBuiltinDeps {
  readonly bus: Pick<EventBus, 'serve'>;
  readonly clock: Clock;
  readonly toolbox: Toolbox;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  /** The caller of an execution that runs for the tenant; undefined for any other id. */
  readonly runningCaller: (executionId: string, tenant: string) => Promise<ToolCaller | undefined>;
}

/** Characters of an answer: as JSON they take six bytes each at most, which a message of the bus holds. */
const contentLength = Math.floor((busLimits.requestBytes - 1_024) / 6);
/** Tools that wait answer before the bus gives their call up. */
const callMs = busLimits.requestMaxMs - 5_000;

/** Runs built-in tools for the gateway, under the policy of this process (design §13). */
export function serveBuiltinTools(deps: ServeBuiltinDeps): Responder {
  const { bus, toolbox } = deps;
  const running = new Map<string, AbortController>();
  const offered = toolbox.offered(unbounded).filter(({ run }) => run.kind === 'api');
  const names = JSON.stringify(offered.map(({ name }) => name));
  const listed = bus.serve({ service: builtinListService }, async () => names);
  const called = bus.serve({ service: builtinCallsService }, ({ body, signal }) =>
    serve(deps, running, { body, signal }),
  );
  const stopped = bus.serve(
    { service: builtinStopService },
    async ({ body }) => {
      running.get(Buffer.from(body).toString())?.abort(new AppError('cancelled', 'the caller gave the call up'));
      return '';
    },
    { replicas: 'every' },
  );
  return {
    ready: Promise.all([listed, called, stopped].map(({ ready }) => ready)).then(() => undefined),
    async close(graceMs) {
      await Promise.all([listed.close(graceMs), called.close(graceMs)]);
      // A call under way may be given up until then.
      await stopped.close(0);
    },
  };
}

/** A caller whom nothing bounds: what is offered to it is everything, tools of hosts included. */
const unbounded: ToolCaller = {
  tenant: '',
  namespace: '',
  subject: '',
  security: { tier: 'operator' },
  scopes: fleetScopes,
  mounts: [],
};

interface Request {
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

async function serve(
  deps: ServeBuiltinDeps,
  running: Map<string, AbortController>,
  { body, signal }: Request,
): Promise<string> {
  const call = readBuiltinCall(body);
  const stop = new AbortController();
  running.set(call.invocation_id, stop);
  try {
    using deadline = startDeadline(deps.clock, callMs, AbortSignal.any([signal, stop.signal]));
    const answer = await run(deps, call, deadline.signal);
    return JSON.stringify({ content: cutText(answer.content, contentLength), isError: answer.isError });
  } finally {
    running.delete(call.invocation_id);
  }
}

/** A refusal by the policy of the execution's agent is an answer: the lane of the gateway has its own before. */
async function run(deps: ServeBuiltinDeps, call: BuiltinCall, signal: AbortSignal): Promise<ToolAnswer> {
  const caller = await callerOf(deps, call);
  const admitted = approvalProblem(caller, call.tool) ?? deps.toolbox.admit(caller, call.tool, call.args);
  if (isRefusal(admitted)) return { content: refusalText(admitted), isError: true };
  if (admitted.run.kind !== 'api')
    return { content: `NOT_AVAILABLE: ${call.tool} runs in the container of an agent alone`, isError: true };
  // The gateway may have given the call up meanwhile, since its session was revoked.
  signal.throwIfAborted();
  return admitted.run.run(caller, call.args, signal);
}

/**
 * The rights of the running agent, or those of an external caller within the security context of its session. The session
 * of an operator never has the rights of an agent: its maker chose the execution id (spec 3 §4.1).
 */
async function callerOf({ runningCaller, tenants }: ServeBuiltinDeps, call: BuiltinCall): Promise<ToolCaller> {
  const { tenant, execution_id: executionId, subject, security, scopes = [], registered = true } = call;
  const agent = registered ? undefined : await runningCaller(executionId, tenant);
  if (agent !== undefined) return agent;
  return { tenant, namespace: tenants.namespaceOf(tenant) ?? '', subject, security, scopes, mounts: [] };
}

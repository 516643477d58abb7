import { LRUCache } from 'lru-cache';
import type { ExecutionReason } from '../../crds/conditions.ts';
import { limits } from '../../crds/limits.ts';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { registeredNameOf } from '../../lib/api-spec/index.ts';
import { notYetMessage } from '../../lib/caller-error.ts';
import { cliToolLabels, workflowOf } from '../../lib/cli-tool/workflow-of.ts';
import { isTimeUp } from '../../lib/deadline.ts';
import { isSessionRevoked } from '../../lib/envelope/index.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import { buildExecution } from '../../lib/execution/build-execution.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { OutputReader } from '../../lib/execution/output-reader.ts';
import { isServerStopping } from '../../lib/http/server-stops.ts';
import { keptSchema } from '../../lib/json-schema/large-schema.ts';
import { isCancelledBefore } from '../../lib/execution/cancelled-before.ts';
import { workflowExecutions, workflows } from '../../lib/kinds.ts';
import {
  isDenied,
  isInvalid,
  isNamespaceGone,
  isQuotaExceeded,
  isTooLarge,
  type KubeClient,
  KubeError,
  unlessChanged,
} from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { failure } from '../../lib/tools/answers.ts';
import { cliAnswer } from './cli-answer.ts';
import type { CliRun, CliRuns } from './cli-runs.ts';
import { createRegisteredSource, type RegisteredDeps } from './registered-source.ts';
import { requireAccepted } from './require-accepted.ts';
import { stoppedAnswer } from './stopped-answer.ts';
import { requireFitting } from './tool-registry.ts';
import type { GatewayAnswer, GatewayCallContext, GatewayCaller, JsonObject, ToolSource } from './tool-source.ts';

interface CliSourceDeps extends RegisteredDeps<CliTool> {
  readonly logger: Pick<Logger, 'warn'>;
  readonly kube: Pick<KubeClient, 'apply' | 'create' | 'get' | 'mergePatch' | 'whoAmI'>;
  readonly outputs: OutputReader;
  readonly runs: CliRuns;
}

/** How long the object of a run is kept after its end: the archive and the audit know of it for longer. */
const keptSeconds = 600;
/** Longest time of the request that cancels a run. */
const cancelMs = 5_000;
const fieldManager = 'windlass-gateway';

/** Workflows that this process has written, by namespace, tool and version. */
type Written = LRUCache<string, true>;

/** CLI tools as tools: a call is an execution of a workflow with one state, in the namespace of the caller's tenant (design §13). */
export function createCliSource(sourceDeps: CliSourceDeps): ToolSource {
  const deps: InvokeDeps = { ...sourceDeps, written: new LRUCache({ max: 10_000 }) };
  return createRegisteredSource(deps, {
    source: 'cli',
    callOf: (tool) => (caller, args, context) => invoke(deps, { tool, caller, args, context }),
  });
}

interface Invocation {
  readonly tool: CliTool;
  readonly caller: GatewayCaller;
  readonly args: JsonObject;
  readonly context: GatewayCallContext;
}

type InvokeDeps = CliSourceDeps & { readonly written: Written };

async function invoke(deps: InvokeDeps, invocation: Invocation): Promise<GatewayAnswer> {
  const { caller, context } = invocation;
  const { namespace } = caller;
  if (namespace === undefined) throw noNamespace(registeredNameOf(invocation.tool), caller);
  const name = `cli-${context.invocationId}`;
  const first = await run(deps, invocation, { namespace, name });
  const again = typeof first === 'string' || !isWithoutWorkflow(first) ? undefined : `${name}-again`;
  const ended = again === undefined ? first : await run(deps, invocation, { namespace, name: again });
  if (typeof ended === 'string') return openAnswer(again ?? name, ended);
  return answerOf(deps, ended);
}

/** An execution whose end is not known: it outlives this process, or the way to it was lost. */
type Open = 'left' | 'lost';

function openAnswer(name: string, open: Open): GatewayAnswer {
  if (open === 'left') return stoppedAnswer(`execution ${name} runs on`);
  return failure('OutcomeUnknown', `execution ${name} may have run, and its end is not known; it was asked to stop`);
}

/** The command has run, whether or not its output can be read now. */
async function answerOf({ logger, outputs }: InvokeDeps, ended: WorkflowExecution): Promise<GatewayAnswer> {
  const { namespace, name } = ended.metadata;
  try {
    return await cliAnswer(ended, outputs(ended));
  } catch (error) {
    logger.warn({ namespace, execution: name, problem: messageOf(error) }, 'output of a cli tool not read');
    return failure('OutcomeUnknown', `execution ${name} has ended, and its output cannot be read now`);
  }
}

/** The tool in full. Large ones are held until their call has begun, not while it runs. @throws AppError `not_found`. */
async function wholeOf(deps: InvokeDeps, { tool }: Invocation): Promise<CliTool> {
  const whole = await deps.whole(tool);
  if (whole === undefined) throw new AppError('not_found', 'the tool was deleted', { reason: 'NotFound' });
  return whole;
}

/** The tool in full that takes the call: what is judged is what runs, whatever the tool becomes meanwhile. */
async function callable(deps: InvokeDeps, invocation: Invocation): Promise<CliTool> {
  const tool = await wholeOf(deps, invocation);
  requireAccepted('the tool', tool);
  const schema = keptSchema(tool.spec.input_schema) as JsonObject;
  requireFitting({ name: registeredNameOf(tool), input_schema: schema }, invocation.args);
  return tool;
}

/** A colleague has deleted the workflow that this process wrote: nothing has run. */
const isWithoutWorkflow = ({ status }: WorkflowExecution): boolean =>
  status?.phase === 'failed' && status.reason === ('WorkflowNotFound' satisfies ExecutionReason);

type RunName = Pick<CliRun, 'namespace' | 'name'>;

/** One execution, at its end. */
async function run(deps: InvokeDeps, invocation: Invocation, name: RunName): Promise<WorkflowExecution | Open> {
  const started = await start(deps, invocation, name);
  if (typeof started === 'string') return started;
  const ended = await end(deps, { ...name, uid: started.uid }, invocation.context.signal);
  if (typeof ended !== 'string' && isWithoutWorkflow(ended)) deps.written.delete(started.memo);
  return ended;
}

/** An execution that has begun, and the key of its workflow among those that were written. */
interface Started {
  readonly uid: string;
  readonly memo: string;
}

/** The API server's refusal of a CLI tool's run, as an answer to its caller; undefined for any other error. */
function refusedRun(cause: unknown): AppError | undefined {
  const invalid = (message: string): AppError => new AppError('invalid', message, { reason: 'Validation', cause });
  const notYet = notYetMessage(cause);
  if (notYet !== undefined) return new AppError('unavailable', notYet, { reason: 'NotReady', cause });
  if (isTooLarge(cause)) return invalid(`the arguments may have ${limits.executionInputBytes} bytes; send less`);
  if (isQuotaExceeded(cause)) {
    return new AppError(
      'limit_exceeded',
      'the quota of the tenant has no room for another run; wait until one ends, or raise the quota',
      { reason: 'QuotaExceeded', cause },
    );
  }
  if (isNamespaceGone(cause)) {
    return new AppError('not_found', 'the tenant is not set up; make it with windlass tenant create', {
      reason: 'NotFound',
      cause,
    });
  }
  // The rules of the kind, and admission policies, speak of the object.
  if (isInvalid(cause) || isDenied(cause)) return invalid(`the run was refused: ${cause.serverMessage}`);
  return undefined;
}

/** Creates the execution, whose name follows from the id of the invocation, which audit events hold. */
async function start(deps: InvokeDeps, invocation: Invocation, of: RunName): Promise<Started | Open> {
  const { args, context } = invocation;
  const tool = await callable(deps, invocation);
  const { namespace } = of;
  const { signal } = context;
  const workflow = workflowOf(tool, namespace);
  const { version } = workflow.spec;
  const memo = `${namespace}/${tool.metadata.uid}/${version}`;
  const object = buildExecution({
    name: of.name,
    namespace,
    workflow: { reference: workflow.metadata.name, version },
    spec: { input: args as WorkflowExecution['spec']['input'], ttl_seconds_after_finished: keptSeconds },
    labels: cliToolLabels(tool),
  });
  await write(deps, workflow, memo, signal);
  try {
    const { metadata } = await deps.kube.create(workflowExecutions, object, { signal });
    return { uid: metadata.uid ?? '', memo };
  } catch (error) {
    deps.written.delete(memo);
    if (isRefusal(error)) throw refusedRun(error) ?? error;
    // Whether it was created is unknown: nothing runs on behalf of a call that has failed.
    await cancel(deps, { namespace, name: object.metadata.name }, unstarted);
    return lost(signal, error);
  }
}

/** Writes the workflow of the tool, where this process has not. */
async function write({ kube, written }: InvokeDeps, workflow: Workflow, memo: string, signal: AbortSignal) {
  if (written.has(memo)) return;
  try {
    await kube.apply(workflows, workflow, { fieldManager, force: true, signal });
  } catch (error) {
    throw refusedRun(error) ?? error;
  }
  written.set(memo, true);
}

/** An answer which proves that the API server has made nothing. */
const isRefusal = (error: unknown): boolean =>
  error instanceof KubeError && error.status < 500 && error.status !== requestTimeout;
const requestTimeout = 408;

/** A caller that hears of trouble tries again, and the command may have run. @throws `error`, where the call is over. */
function lost(signal: AbortSignal, error: unknown): Open {
  if (signal.aborted && !isServerStopping(signal)) throw error;
  return 'lost';
}

/** The execution at its end. One that has no end is cancelled when the call is over, and left where the gateway stops. */
async function end(deps: InvokeDeps, run: CliRun, signal: AbortSignal): Promise<WorkflowExecution | Open> {
  const { namespace, name } = run;
  try {
    await deps.runs.ended(run, signal);
    return await deps.kube.get(workflowExecutions, { namespace, name }, { signal });
  } catch (error) {
    if (isServerStopping(signal)) return 'left';
    await cancel(deps, run, causeOf(signal));
    if (error instanceof AppError && error.code === 'not_found') throw error;
    return lost(signal, error);
  }
}

const unstarted = 'the gateway could not tell whether the call of the tool began';

/** Why a call is over before its execution. */
function causeOf(signal: AbortSignal): string {
  if (isTimeUp(signal)) return 'the time of the call of the tool is up';
  if (isSessionRevoked(signal)) return 'the session of the call of the tool was revoked';
  return signal.aborted ? 'the caller of the tool has left' : 'the gateway could not follow the execution';
}

/**
 * Never rejects: an execution without a cancellation ends by its own timeout. One that is gone, that others have cancelled, or
 * whose name another one has by now is left alone. Without `uid` it is unknown whether there is one.
 */
async function cancel(
  deps: InvokeDeps,
  { namespace, name, uid }: RunName & Partial<CliRun>,
  reason: string,
): Promise<void> {
  const { kube, clock, logger } = deps;
  const options = { timeoutMs: cancelMs };
  try {
    const found = await kube.get(workflowExecutions, { namespace, name }, options).catch(() => undefined);
    if (found === undefined || finished(found) || found.metadata.uid !== (uid ?? found.metadata.uid)) return;
    const { username: by } = await kube.whoAmI(options);
    const at = new Date(clock.now()).toISOString();
    const patch = {
      metadata: { uid: found.metadata.uid },
      spec: { cancel: { by, at, reason } },
    };
    await unlessChanged(kube.mergePatch(workflowExecutions, { namespace, name }, patch, options));
  } catch (error) {
    if (isCancelledBefore(error)) return;
    logger.warn({ namespace, execution: name, problem: messageOf(error) }, 'cli tool not cancelled');
  }
}

const invalid = (message: string): AppError => new AppError('invalid', message, { reason: 'Validation' });

const noNamespace = (name: string, { tenant }: GatewayCaller): AppError =>
  tenant === undefined
    ? invalid(`${name} runs for a tenant, and the development bypass has none`)
    : new AppError('not_found', `tenant ${tenant} is not set up`, { reason: 'NotFound' });

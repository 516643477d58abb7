import type { ApiSpecReason, ToolWorkflowReason } from '../../crds/conditions.ts';
import { readyOf } from '../../crds/ready.ts';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import {
  type ApiDocuments,
  type ApiSpecCache,
  credentialTargetProblems,
  findApiSpec,
  missingApiSpec,
  registeredNameOf,
} from '../../lib/api-spec/index.ts';
import type { AuditChain } from '../../lib/audit-chain/index.ts';
import type { Credential, Credentials } from '../../lib/credentials/index.ts';
import { isSessionRevoked } from '../../lib/envelope/index.ts';
import { AppError, hasReason } from '../../lib/errors.ts';
import { isServerStopping } from '../../lib/http/server-stops.ts';
import type { Logger } from '../../lib/logger.ts';
import type { OpenApiIndex } from '../../lib/openapi-document/index.ts';
import { type ChainLimits, chainLimitsDefault } from '../../lib/tool-chain/limits.ts';
import { createReadingTurns, type ReadingTurns } from '../../lib/tool-chain/reading-turns.ts';
import { type ChainOutcome, runToolChain } from '../../lib/tool-chain/run-tool-chain.ts';
import type { UpstreamRoom } from '../../lib/tools/web/upstream-room.ts';
import type { Upstream } from '../../lib/upstream/index.ts';
import type { FormerNames } from './former-names.ts';
import { createInvocationAudit, type InvocationAudit } from './invocation-audit.ts';
import { createRegisteredSource, type RegisteredDeps } from './registered-source.ts';
import { notReadyOf, requireAccepted } from './require-accepted.ts';
import { createSendStep } from './send-step.ts';
import { requireFitting } from './tool-registry.ts';
import type {
  GatewayAnswer,
  GatewayCallContext,
  GatewayCaller,
  GatewayTool,
  JsonObject,
  ToolSource,
} from './tool-source.ts';

export interface WorkflowSourceDeps extends RegisteredDeps<ToolWorkflow> {
  readonly logger: Pick<Logger, 'warn'>;
  readonly audit: AuditChain;
  readonly former: Pick<FormerNames, 'has' | 'isCurrent'>;
  readonly apiSpecs: ApiSpecCache;
  readonly documents: Pick<ApiDocuments, 'indexOf'>;
  readonly credentials: Credentials;
  readonly upstream: Pick<Upstream, 'send'>;
  readonly limits?: ChainLimits;
  /** Memory for responses, and for what calls keep of them. */
  readonly room: UpstreamRoom;
}

/** Tool workflows as tools: a call runs the chain that was registered when it began (spec 3 §1.4, §3.2). */
export function createWorkflowSource(sourceDeps: WorkflowSourceDeps): ToolSource {
  const { clock, tenancy, former } = sourceDeps;
  const deps = { ...sourceDeps, turns: createReadingTurns(clock) };
  const source = createRegisteredSource(deps, {
    source: 'workflow',
    awaitsIntent: true,
    notReady: (workflow) => notReadyNow(deps, workflow),
    callOf: (workflow) => (caller, args, context) => invoke(deps, { workflow, caller, args, context }),
    unheld: (tenant, name) =>
      tenancy.visibleTo(tenant).some((place) => former.has(place, name)) ? deletedTool(name) : undefined,
  });
  return {
    ...source,
    unread: (_tenant, name) =>
      name === undefined || former.isCurrent ? undefined : 'the names of deleted tool workflows',
  };
}

/** Any arguments reach the answer that it is gone. */
const deletedTool = (name: string): GatewayTool => ({
  name,
  description: '',
  input_schema: { type: 'object' },
  source: 'workflow',
  skip_judge: false,
  fleet_capable: false,
  call: () => Promise.reject(gone('the workflow was deleted')),
});

interface Invocation {
  readonly workflow: ToolWorkflow;
  readonly caller: GatewayCaller;
  readonly args: JsonObject;
  readonly context: GatewayCallContext;
}

/** Reasons of which the API of the workflow is the cause: it is looked at as it is now. */
const ofItsApi = ['ApiSpecNotFound', 'ApiSpecNotReady', 'OperationNotFound'] satisfies ToolWorkflowReason[];
/** Parts of a document come behind their object; the reading of the document finds out. */
const ofItsDocument = ['DocumentMissing'] satisfies ApiSpecReason[];

/** As a call finds it, short of reading the document: while the API is judged anew, the tool is offered. */
function notReadyNow({ apiSpecs }: WorkflowSourceDeps, workflow: ToolWorkflow): string | undefined {
  const ofItself = notReadyOf(workflow, ofItsApi);
  const verdict = notReadyOf(workflow);
  if (ofItself !== undefined || verdict === undefined) return ofItself;
  const api = findApiSpec(apiSpecs, workflow);
  if (api === undefined) return `${'ApiSpecNotFound' satisfies ToolWorkflowReason}: ${missingApiSpec(workflow)}`;
  const ofItsApiNow = notReadyOf(api);
  if (ofItsApiNow !== undefined) {
    return `${'ApiSpecNotReady' satisfies ToolWorkflowReason}: ApiSpec ${registeredNameOf(api)}: ${ofItsApiNow}`;
  }
  return readyOf(workflow)?.reason === ('OperationNotFound' satisfies ToolWorkflowReason) ? verdict : undefined;
}

interface ChainSourceDeps extends WorkflowSourceDeps {
  readonly turns: ReadingTurns;
}

/**
 * The answer of an invocation that `error` broke off behind the steps in `sent`. A caller that hears of an outage tries again,
 * and those steps would be sent twice.
 * @throws the error, where nothing was sent, or where it says nothing of trying again.
 */
function brokenOff(error: unknown, sent: readonly string[], context: GatewayCallContext): GatewayAnswer {
  if (sent.length === 0 || !(error instanceof AppError) || isSessionRevoked(context.signal)) throw error;
  const steps = `${sent.length === 1 ? 'step' : 'steps'} ${sent.join(', ')} ${sent.length === 1 ? 'was' : 'were'} sent`;
  const what = `${steps} (invocation ${context.invocationId})`;
  if (error.code === 'invalid') throw new AppError('invalid', `${error.message}; before that, ${what}`, error);
  return {
    content: `OutcomeUnknown: ${what}, and the workflow did not reach its end. Do not repeat the call; look at the audit.`,
    isError: true,
  };
}

async function invoke(deps: ChainSourceDeps, invocation: Invocation): Promise<GatewayAnswer> {
  const { caller, args, context } = invocation;
  const workflow = await deps.whole(invocation.workflow);
  if (workflow === undefined) throw gone('the workflow was deleted');
  requireAccepted('the tool', workflow, ofItsApi);
  requireFitting({ name: registeredNameOf(workflow), input_schema: workflow.spec.input_schema as JsonObject }, args);
  const audit = createInvocationAudit(deps, { caller, context, workflow });
  audit.started();
  try {
    const outcome = await chain(deps, { ...invocation, workflow }, audit);
    const ended = audit.ended(outcome);
    if (context.closing === undefined) await ended;
    else context.closing(ended.catch((error: unknown) => fail(audit, error)));
    return answerOf(outcome, workflow, caller);
  } catch (error) {
    await audit.failed(isServerStopping(context.signal) ? context.signal.reason : error);
    return brokenOff(error, audit.sent, context);
  }
}

async function fail(audit: InvocationAudit, error: unknown): Promise<never> {
  await audit.failed(error);
  throw error;
}

/** The chain with its API, as they are now. */
async function chain(deps: ChainSourceDeps, invocation: Invocation, audit: InvocationAudit): Promise<ChainOutcome> {
  const { workflow, caller, args, context } = invocation;
  const { steps } = workflow.spec;
  const limits = deps.limits ?? chainLimitsDefault;
  const [first] = steps;
  if (first === undefined || steps.length > limits.steps) {
    throw new AppError('invalid', `a workflow of this gateway has 1 to ${limits.steps} steps`, {
      reason: 'Validation',
    });
  }
  const api = findApiSpec(deps.apiSpecs, workflow);
  if (api === undefined) throw gone(missingApiSpec(workflow));
  requireAccepted(`the tool's API spec ${registeredNameOf(api)}`, api, ofItsDocument);
  const index = await deps.documents.indexOf(api);
  requireOperations(steps, index);
  requireHome(api, index);
  const tenant = caller.tenant ?? '';
  const credential = await resolve(deps, { api, tenant, server: index.server ?? index.home }, audit);
  if (typeof credential === 'string') return { kind: 'failed', step: first.name, reason: credential };
  const { responseBytes } = limits;
  // One event of an exchange is for the whole invocation (spec 3 §6), so that of a renewal has none.
  const renew = () => deps.credentials.resolve(tenant, api);
  const send = createSendStep(deps.upstream, { api, index, credential, renew, tenant, responseBytes, room: deps.room });
  const inTurn = deps.turns.of(tenant);
  const part = deps.room.keptBy(tenant);
  return runToolChain({ ...deps, limits, send, inTurn, part, observer: audit }, steps, args, {
    signal: context.signal,
  });
}

/** Before a step is sent. @throws AppError `invalid`, Validation. */
function requireOperations(steps: ToolWorkflow['spec']['steps'], { operations }: OpenApiIndex): void {
  const step = steps.find(({ operation_id: id }) => !operations.has(id));
  if (step === undefined) return;
  const message = `step '${step.name}': '${step.operation_id}' is no operationId of the API spec`;
  throw new AppError('invalid', message, { reason: 'Validation' });
}

/** Before a credential is read: it is for one origin. @throws AppError `invalid`, Validation. */
function requireHome(api: ApiSpec, index: OpenApiIndex): void {
  const [problem] = credentialTargetProblems(api.spec, index);
  if (problem === undefined) return;
  const message = `${problem.path} of the API spec ${registeredNameOf(api)} ${problem.message}`;
  throw new AppError('invalid', message, { reason: 'Validation' });
}

interface Exchange {
  readonly api: ApiSpec;
  readonly tenant: string;
  readonly server: string | undefined;
}

/** The credential, or why there is none. Once an invocation (spec 3 §6). */
async function resolve(deps: WorkflowSourceDeps, exchange: Exchange, audit: InvocationAudit) {
  const { api, tenant, server } = exchange;
  const target = { strategy: api.spec.credentials?.kind ?? 'none', service: registeredNameOf(api), server };
  // A token may have to be asked for: the intent is stored before.
  if (api.spec.credentials !== undefined) await audit.stored();
  let credential: Credential;
  try {
    credential = await deps.credentials.resolve(tenant, api);
  } catch (error) {
    // For any reason: the exchange has failed, and its event comes before the answer.
    await audit.credential('CredentialExchangeFailed', target);
    if (hasReason(error, 'CredentialFailed')) return error.message;
    throw error;
  }
  await audit.credential('CredentialExchangeCompleted', target);
  return credential;
}

function answerOf(outcome: ChainOutcome, { metadata }: ToolWorkflow, { executionId }: GatewayCaller): GatewayAnswer {
  if (outcome.kind === 'failed') return { content: `step '${outcome.step}' failed: ${outcome.reason}`, isError: true };
  const { result, state, held } = outcome;
  const ids = `"workflow_id":${JSON.stringify(metadata.uid)},"execution_id":${JSON.stringify(executionId)}`;
  const json = [Buffer.from(`{${ids},"result":`), result, Buffer.from(`,"state":${JSON.stringify(state)}}`)];
  return { json, isError: false, held };
}

const gone = (message: string): AppError => new AppError('not_found', message, { reason: 'NotFound' });

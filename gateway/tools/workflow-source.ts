import { LRUCache } from 'lru-cache';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import {
  type ApiDocuments,
  type ApiSpecCache,
  findApiSpec,
  holderOf,
  registeredNameOf,
} from '../../lib/api-spec/index.ts';
import type { AuditChain } from '../../lib/audit-chain/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Credentials } from '../../lib/credentials/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { InformerChange } from '../../lib/informer/informer.ts';
import { inputProblems } from '../../lib/json-schema/input-problems.ts';
import type { Logger } from '../../lib/logger.ts';
import { type ChainLimits, chainLimitsDefault } from '../../lib/tool-chain/limits.ts';
import { type ChainOutcome, runToolChain } from '../../lib/tool-chain/run-tool-chain.ts';
import type { Upstream } from '../../lib/upstream/index.ts';
import type { Tenancy } from '../identity/tenancy.ts';
import { createInvocationAudit, type InvocationAudit } from './invocation-audit.ts';
import { createSendStep } from './send-step.ts';
import type { GatewayAnswer, GatewayCallContext, GatewayCaller, JsonObject, ToolSource } from './tool-source.ts';

export interface WorkflowSourceDeps {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  readonly audit: AuditChain;
  readonly tenancy: Pick<Tenancy, 'visibleTo'>;
  readonly workflows: { byIndex(index: 'namespace', key: string): readonly ToolWorkflow[] };
  /** Tells of each change that the watch brings. */
  readonly onChange: (handler: (change: InformerChange<ToolWorkflow>) => void) => void;
  /** The object in full, of which the cache keeps less; undefined where it is gone. */
  readonly whole: (workflow: ToolWorkflow) => Promise<ToolWorkflow | undefined>;
  readonly apiSpecs: ApiSpecCache;
  readonly documents: Pick<ApiDocuments, 'indexOf'>;
  readonly credentials: Credentials;
  readonly upstream: Pick<Upstream, 'send'>;
  readonly limits?: ChainLimits;
}

/** Tool workflows as tools: a call runs the chain that was registered when it began (spec 3 §1.4, §3.2). */
export function createWorkflowSource(deps: WorkflowSourceDeps): ToolSource {
  const deleted = rememberDeleted(deps);
  const visible = (tenant: string | undefined): ToolWorkflow[] =>
    deps.tenancy.visibleTo(tenant).flatMap((place) => deps.workflows.byIndex('namespace', place));
  const toolOf = (workflow: ToolWorkflow) => ({
    name: registeredNameOf(workflow),
    description: workflow.spec.description,
    input_schema: workflow.spec.input_schema as JsonObject,
    source: 'workflow' as const,
    skip_judge: false,
    fleet_capable: false,
    call: (caller: GatewayCaller, args: JsonObject, context: GatewayCallContext) =>
      invoke(deps, { workflow, caller, args, context }),
  });
  return {
    list: (tenant) => visible(tenant).map(toolOf),
    find(tenant, name) {
      const holder = holderOf(visible(tenant).filter((workflow) => registeredNameOf(workflow) === name));
      if (holder !== undefined) return toolOf(holder);
      const last = deps.tenancy.visibleTo(tenant).map((place) => deleted.get(`${place}/${name}`));
      const [gone] = last.filter((workflow) => workflow !== undefined);
      return gone && toolOf(gone);
    },
  };
}

/** Workflows that were deleted while this process watched: a call of one is answered 404, not as an unknown tool. */
function rememberDeleted({ onChange }: WorkflowSourceDeps): LRUCache<string, ToolWorkflow> {
  const deleted = new LRUCache<string, ToolWorkflow>({ max: deletedKept });
  const keyOf = (workflow: ToolWorkflow): string => `${workflow.metadata.namespace}/${registeredNameOf(workflow)}`;
  onChange(({ before, after }) => {
    if (after !== undefined) deleted.delete(keyOf(after));
    else if (before !== undefined) deleted.set(keyOf(before), asDeleted(before));
  });
  return deleted;
}

const deletedKept = 10_000;

/** Any arguments reach the answer that it is gone. */
const asDeleted = (workflow: ToolWorkflow): ToolWorkflow => ({
  ...workflow,
  spec: { ...workflow.spec, description: '', input_schema: { type: 'object' }, steps: [] },
});

interface Invocation {
  readonly workflow: ToolWorkflow;
  readonly caller: GatewayCaller;
  readonly args: JsonObject;
  readonly context: GatewayCallContext;
}

async function invoke(deps: WorkflowSourceDeps, invocation: Invocation): Promise<GatewayAnswer> {
  const { caller, args, context } = invocation;
  const isDeleted = invocation.workflow.spec.steps.length === 0;
  const workflow = isDeleted ? undefined : await deps.whole(invocation.workflow);
  if (workflow === undefined) throw gone('the workflow was deleted');
  const [problem] = inputProblems(workflow.spec.input_schema, args);
  if (problem !== undefined)
    throw new AppError('invalid', `${problem.path}: ${problem.message}`, { reason: 'Validation' });
  const audit = createInvocationAudit(deps, { caller, context, workflow });
  await audit.started();
  try {
    const outcome = await chain(deps, { ...invocation, workflow }, audit);
    await audit.ended(outcome);
    return answerOf(outcome, workflow, caller);
  } catch (error) {
    await audit.failed(error);
    throw error;
  }
}

/** The chain with its API, as they are now. */
async function chain(deps: WorkflowSourceDeps, invocation: Invocation, audit: InvocationAudit): Promise<ChainOutcome> {
  const { workflow, caller, args, context } = invocation;
  const { steps } = workflow.spec;
  const limits = deps.limits ?? chainLimitsDefault;
  const [first] = steps;
  if (first === undefined || steps.length > limits.steps) {
    throw new AppError('invalid', `a workflow of this gateway has 1 to ${limits.steps} steps`, {
      reason: 'Validation',
    });
  }
  const api = findApiSpec(deps.apiSpecs, deps.tenancy.visibleTo(caller.tenant), workflow.spec);
  if (api === undefined) throw gone('the API spec of the workflow was deleted');
  const index = await deps.documents.indexOf(api);
  const tenant = caller.tenant ?? '';
  const credential = await resolve(deps, { api, tenant, server: index.server }, audit);
  if (typeof credential === 'string') return { kind: 'failed', step: first.name, reason: credential };
  const send = createSendStep(deps.upstream, { api, index, credential, tenant, responseBytes: limits.responseBytes });
  return runToolChain({ ...deps, limits, send, observer: audit }, steps, args, { signal: context.signal });
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
  try {
    const credential = await deps.credentials.resolve(tenant, api);
    await audit.credential('CredentialExchangeCompleted', target);
    return credential;
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== 'CredentialFailed') throw error;
    await audit.credential('CredentialExchangeFailed', target);
    return error.message;
  }
}

function answerOf(outcome: ChainOutcome, { metadata }: ToolWorkflow, { executionId }: GatewayCaller): GatewayAnswer {
  if (outcome.kind === 'failed') return { content: `step '${outcome.step}' failed: ${outcome.reason}`, isError: true };
  const { result, state } = outcome;
  const structured = { workflow_id: metadata.uid, execution_id: executionId, result, state };
  return { content: JSON.stringify(structured), structured, isError: false };
}

const gone = (message: string): AppError => new AppError('not_found', message, { reason: 'NotFound' });

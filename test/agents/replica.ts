import { createApprovals } from '../../api/agents/verdicts/approvals.ts';
import { createClaims } from '../../api/agents/drivers/conversation-claims.ts';
import { createDrivers, type Drivers } from '../../api/agents/drivers/drivers.ts';
import type { DriversDeps } from '../../api/agents/drivers/drivers-deps.ts';
import type { JudgeAgents } from '../../api/agents/verdicts/judge-agents.ts';
import { noRegisteredTools, type RegisteredToolSource } from '../../api/agents/registered/index.ts';
import { type LeavingTimes, leavingTimesOf } from '../../api/leaving-times.ts';
import type { AgentSpec } from '../../crds/schema/agent.ts';
import type { AgentExecution, AgentResult } from '../../crds/schema/agent-execution.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { slimAgentExecution } from '../../lib/agent/slim-agent-execution.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import {
  type CallCounter,
  createCallCounter,
  createCallsUnderWay,
  createSealSessions,
  type CallsUnderWay,
} from '../../lib/envelope/index.ts';
import { defined } from '../../lib/defined.ts';
import { newId } from '../../lib/ids.ts';
import type { InformerChange } from '../../lib/informer/index.ts';
import { type KubeClient, KubeError, type RequestName } from '../../lib/kube/index.ts';
import type { ModelLimits, ModelReply, ModelRequest } from '../../lib/models/models.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { Tool, Toolbox } from '../../lib/tools/tool.ts';
import { silentLogger } from '../support/silent-logger.ts';

/** The cluster as all replicas see it: executions, and the outcomes that were written. */
export class SharedExecutions {
  readonly objects = new Map<string, AgentExecution>();
  readonly outcomes: AgentResult[] = [];
  /** The API server does not answer. */
  isAway = false;
  /** The API server does not know who asks, as where the pod of the replica was deleted. */
  isStranger = false;
  /** The API server has just begun, and does not know our rights yet. */
  isRefusing = false;
  /** Outcomes that the API server refuses before it takes one. */
  outcomesRefused = 0;
  readonly #handlers = new Set<(change: InformerChange<AgentExecution>) => void>();
  readonly #isSlim: boolean;

  /** `isSlim`: caches leave texts out, as those of a process do. */
  constructor({ isSlim = false }: { readonly isSlim?: boolean } = {}) {
    this.#isSlim = isSlim;
  }

  put(execution: AgentExecution): void {
    const key = execution.metadata.uid ?? '';
    const before = this.objects.get(key);
    this.objects.set(key, execution);
    const seen = { before: before && this.#cached(before), after: this.#cached(execution) };
    for (const handler of this.#handlers) handler({ key, ...seen, own: false });
  }

  #cached(execution: AgentExecution): AgentExecution {
    return this.#isSlim ? slimAgentExecution(execution) : execution;
  }

  #found(uid: string): AgentExecution | undefined {
    const found = this.objects.get(uid);
    return found && this.#cached(found);
  }

  /** As the API server takes a merge patch on one version, of annotations and of first fields of the spec. */
  merge(name: string, patch: object): AgentExecution {
    const uid = name.replace('run-', '');
    const execution = this.objects.get(uid);
    const ref = { verb: 'patch', resource: 'agentexecutions' };
    this.#answer(ref);
    if (execution === undefined) throw new KubeError(404, { reason: 'NotFound', message: 'gone' }, ref);
    const { metadata, spec } = patch as Pick<AgentExecution, 'metadata'> & { readonly spec?: object };
    const version = execution.metadata.resourceVersion;
    if (metadata.resourceVersion !== version) throw new KubeError(409, { reason: 'Conflict', message: 'stale' }, ref);
    const kept = Object.entries({ ...execution.spec, ...spec }).filter(([, value]) => value !== null);
    const annotations = { ...execution.metadata.annotations, ...metadata.annotations };
    const after: AgentExecution = {
      ...execution,
      metadata: { ...execution.metadata, annotations, resourceVersion: `${Number(version) + 1}` },
      spec: Object.fromEntries(kept) as unknown as AgentExecution['spec'],
    };
    this.put(after);
    return after;
  }

  #answer(ref: RequestName): void {
    if (this.isAway) throw new KubeError(503, { reason: 'ServiceUnavailable', message: 'away' }, ref);
    if (this.isStranger) throw new KubeError(401, { reason: 'Unauthorized', message: 'Unauthorized' }, ref);
    if (this.isRefusing) throw new KubeError(403, { reason: 'Forbidden', message: 'User "u" cannot' }, ref);
  }

  /** As the API server gives it. */
  get(name: string): AgentExecution {
    const ref = { verb: 'get', resource: 'agentexecutions' };
    this.#answer(ref);
    const found = this.objects.get(name.replace('run-', ''));
    if (found === undefined) throw new KubeError(404, { reason: 'NotFound', message: 'gone' }, ref);
    return found;
  }

  /** As the API server judges a patch that names the phase. */
  requirePhase(name: string, phase: unknown): void {
    const stored = this.objects.get(name.replace('run-', ''))?.status?.phase;
    const ref = { verb: 'patch', resource: 'agentexecutions' };
    this.outcomesRefused -= 1;
    if (this.outcomesRefused >= 0) throw new KubeError(422, { reason: 'Invalid', message: 'a rule is broken' }, ref);
    const message = 'the server rejected our request due to an error in our request';
    if (stored !== phase) throw new KubeError(422, { reason: 'Invalid', message }, ref);
  }

  /** As the API server takes it: once. */
  writeResult(uid: string, result: AgentResult): void {
    const execution = this.objects.get(uid);
    if (execution === undefined || execution.spec.result !== undefined) return;
    this.outcomes.push(result);
    this.put({ ...execution, spec: { ...execution.spec, result } });
  }

  get informer() {
    return {
      cache: {
        remember: () => undefined,
        getByUid: (uid: string) => this.#found(uid),
        byIndex: (_index: 'pod', uid: string) =>
          [...this.objects.values()].filter(({ status }) => status?.pod?.uid === uid),
        values: () => this.objects.values().map((execution) => this.#cached(execution)),
      },
      whole: async (object: AgentExecution) => this.objects.get(object.metadata.uid ?? ''),
      onChange: (handler: (change: InformerChange<AgentExecution>) => void) => void this.#handlers.add(handler),
    };
  }
}

export const specOf = (more: Partial<AgentSpec> = {}): AgentSpec => ({
  version: '1.0.0',
  runtime: { model: 'default' },
  task: { instruction: 'You work. {{intent}}' },
  ...more,
});

/** A running execution. */
export function executionOf(
  uid: string,
  more: { readonly deadline?: string; readonly namespace?: string; readonly startedAt?: string } = {},
) {
  const { deadline = '2099-01-01T00:00:00.000Z', namespace = 'acme', startedAt } = more;
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'AgentExecution',
    metadata: { name: `run-${uid}`, namespace, uid, resourceVersion: '1' },
    spec: { agent: 'worker', input: 'do it', intent: 'carefully' },
    status: {
      phase: 'running',
      agent: { name: 'worker', namespace, uid: 'agent-1', version: '1.0.0', revision: 'worker-1' },
      pod: { name: `run-${uid}-1`, uid: 'pod-1', attempt: 1 },
      deadline,
      ...(startedAt === undefined ? {} : { started_at: startedAt }),
    },
  } as const satisfies AgentExecution;
}

export const replyOf = (
  content: string,
  calls: readonly (readonly [name: string, args: object])[] = [],
): ModelReply => ({
  content,
  tool_calls: calls.map(([name, args], index) => ({ id: `given-${index}`, name, arguments: JSON.stringify(args) })),
  stop: calls.length > 0 ? 'tool_calls' : 'end',
  provider: 'p',
  model: 'm',
  input_tokens: 1,
  output_tokens: 1,
});

/** A tool that runs in the pod. */
export const podTool = (isIdempotent: boolean): Tool => ({
  name: 'fs.write',
  description: 'writes',
  input_schema: { type: 'object' },
  skip_judge: true,
  idempotent: isIdempotent,
  fleet_capable: false,
  run: {
    kind: 'pod',
    plan: () => ({
      command: 'write',
      args: [],
      cwd: '/',
      env_additions: {},
      timeout_secs: 5,
      max_output_bytes: 524_288,
    }),
    answer: (_caller, _args, { stdout }) => ({ content: stdout, isError: false }),
  },
});

interface ReplicaOptions {
  readonly bus: EventBus;
  readonly shared: SharedExecutions;
  readonly ask: (request: ModelRequest) => Promise<ModelReply>;
  readonly tools?: readonly Tool[];
  readonly registered?: RegisteredToolSource;
  /** In place of `tools`. */
  readonly toolbox?: Toolbox;
  readonly spec?: AgentSpec;
  readonly security?: SecurityContextSpec;
  /** In place of `spec` and `security`. */
  readonly definitionOf?: DriversDeps['definitionOf'];
  /** Default: no agent judges. */
  readonly judges?: JudgeAgents;
  readonly limits?: ModelLimits;
  /** Whether its node configuration has the model. */
  readonly isModelKnown?: boolean;
  /** Bytes of heap for its conversations. */
  readonly poolBytes?: number;
  /** Default: those of a process with the shortest grace. */
  readonly leaving?: LeavingTimes;
  /** Default: a list of its own. */
  readonly admission?: Pick<CallsUnderWay, 'enter'>;
  /** Default: that of the machine. */
  readonly clock?: Clock;
  /** Default: one on the bus. */
  readonly calls?: CallCounter;
  /** Default: each namespace is the tenant of its name. */
  readonly tenants?: Pick<TenantDirectory, 'tenantOf'>;
}

export interface Replica {
  readonly drivers: Drivers;
  /** Stops as a process that ends well does. */
  stop(): Promise<void>;
}

const toolboxOf = (tools: readonly Tool[]): Toolbox => ({
  offered: () => tools,
  admit: (_caller, name) =>
    tools.find((tool) => tool.name === name) ?? {
      kind: 'policy',
      code: 'ToolNotAllowed',
      message: `${name} is not allowed`,
    },
  isJudged: () => true,
});

const noJudges: JudgeAgents = {
  idle: async () => undefined,
  result: () => Promise.reject(new Error('no agent judges')),
};

const namedAlike = { tenantOf: (namespace: string) => namespace };

/** One replica's drivers, with a model and tools of the test. */
export function startReplica({
  bus,
  shared,
  ask,
  tools = [],
  registered = noRegisteredTools,
  toolbox = toolboxOf(tools),
  spec = specOf(),
  security = {},
  definitionOf = async () => ({ spec, security }),
  judges = noJudges,
  limits = { maxOutputTokens: 1_000 },
  isModelKnown = true,
  poolBytes,
  leaving = leavingTimesOf(20_000),
  clock = systemClock,
  calls = createCallCounter(bus),
  admission = createCallsUnderWay(clock),
  tenants = namedAlike,
}: ReplicaOptions): Replica {
  const stop = new AbortController();
  const kube: Pick<KubeClient, 'get' | 'mergePatch'> = {
    get: async (_resource, { name }) => shared.get(name) as never,
    mergePatch: async (_resource, { name }, patch) => shared.merge(name, patch) as never,
  };
  const drivers = createDrivers({
    kube: {
      get: kube.get,
      jsonPatch: async (_resource, ref, operations) => {
        const valueAt = (wanted: string) => operations.find(({ path }) => path === wanted)?.value;
        shared.requirePhase(ref.name, valueAt('/status/phase'));
        shared.writeResult(ref.name.replace('run-', ''), valueAt('/spec/result') as AgentResult);
        return {} as never;
      },
      mergePatch: kube.mergePatch,
    },
    bus,
    clock,
    random: () => 0.5,
    logger: silentLogger,
    newId,
    models: { ask, limitsOf: () => limits },
    toolbox,
    registered,
    calls,
    claims: createClaims({ kube, bus, clock, tenants, isKnown: () => isModelKnown }),
    approvals: createApprovals({ kube, clock, executions: shared.informer }),
    judges,
    executions: shared.informer,
    definitionOf,
    leaving,
    admission,
    sessions: createSealSessions(bus),
    ...defined({ poolBytes }),
  });
  const running = drivers.run(stop.signal);
  return {
    drivers,
    async stop() {
      stop.abort();
      await running;
    },
  };
}

import { describe, expect, it } from 'vitest';
import { archiveFinalizer, labels } from '../../crds/labels.ts';
import type { Agent, AgentSpec } from '../../crds/schema/agent.ts';
import type { AgentExecution, AgentExecutionSpec } from '../../crds/schema/agent-execution.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import { judgeExecutionName } from '../../lib/agent/judged-execution.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { type JsonPatchOperation, KubeError, type NetworkPolicy, type Pod } from '../../lib/kube/index.ts';
import { revisionOf } from '../../lib/registration/revision.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { type Archives, noArchives } from '../archiving/archives.ts';
import type { ArchiveFact } from '../archiving/decide-archiving.ts';
import type { Fact } from '../runtime/facts.ts';
import { createQuotaGate } from '../step-pods/quota-gate.ts';
import type { RecordedEnd } from './end/recorded-end.ts';
import { agentLimits } from './limits.ts';
import { createAgentExecutionReconcile } from './reconcile.ts';

const key = 'tenant-a/run';
const start = Date.parse('2026-01-02T00:00:00Z');
const podSettings = {
  runnerImage: 'runner:1',
  systemImage: 'busybox:1',
  imageVolumes: true,
  runAsUser: 65_532,
  workdirSize: '4Gi',
  alwaysPull: false,
  defaultResources: {},
  nodeLostSeconds: 60,
  gateway: 'http://api:8081',
};

type Recorded = Awaited<ReturnType<RecordedEnd>>;

interface Given {
  /** Whether the server has agents that no cache holds. */
  readonly isOnServer?: boolean;
  /** The volume `data` in the cache, and on the server. */
  readonly volume?: Volume | undefined;
  readonly serverVolume?: Volume | undefined;
  readonly spec?: Partial<AgentExecutionSpec>;
  /** Fields that the cache leaves out. */
  readonly whole?: Partial<AgentExecutionSpec>;
  readonly agent?: Partial<AgentSpec>;
  /** The condition Ready of the agent; absent: the controllers have not looked at it. */
  readonly ready?: 'True' | 'False';
  readonly isThere?: boolean;
  readonly refusal?: KubeError | undefined;
  /** The policies of networks are refused so. */
  readonly policyRefusal?: KubeError;
  /** The pod that the server has where a name is asked for. */
  readonly stored?: Pod;
  readonly archives?: Archives<AgentExecution>;
  readonly context?: SecurityContextSpec;
  /** When the conversation ended. */
  /** The end of its conversation. Default: it continues. */
  readonly recorded?: Recorded;
  /** The agent that judges its answer. */
  readonly judge?: AgentExecution;
}

/** Fields of one level of the status are all that a patch of ours changes. */
function patched(object: AgentExecution, operations: readonly JsonPatchOperation[]): AgentExecution {
  const next = structuredClone(object) as unknown as Record<string, unknown>;
  for (const { op, path, value } of operations as { op: string; path: string; value?: unknown }[]) {
    const names = path.slice(1).split('/');
    const last = names.pop() ?? '';
    let at = next;
    for (const name of names) at = at[name] as Record<string, unknown>;
    if (op === 'remove') delete at[last];
    else at[last] = value;
  }
  const version = Number(object.metadata.resourceVersion) + 1;
  return { ...(next as unknown as AgentExecution), metadata: { ...object.metadata, resourceVersion: `${version}` } };
}

function readyAgent({ agent: spec, ready = 'True' }: Given): Agent {
  const agent = anAgent('reviewer', { tools: [{ name: 'fs.read' }], ...spec });
  const condition = {
    type: 'Ready',
    status: ready,
    reason: 'Accepted',
    message: 'bad template',
    observedGeneration: 1,
  };
  return {
    ...agent,
    status: {
      revision: revisionOf(agent).metadata.name ?? '',
      conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  };
}

const anExecution = (spec: Partial<AgentExecutionSpec>): AgentExecution => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: {
    name: 'run',
    namespace: 'tenant-a',
    uid: 'execution-uid',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: new Date(start).toISOString(),
  },
  spec: { agent: 'reviewer', ...spec },
});

type Phase = NonNullable<Volume['status']>['phase'];

const aVolume = (phase: Phase | undefined): Volume | undefined =>
  phase && {
    apiVersion: 'windlass.dev/v1',
    kind: 'Volume',
    metadata: { name: 'data', namespace: 'tenant-a', uid: 'volume-uid', resourceVersion: '5' },
    spec: { storage_class: 'persistent' },
    status: { phase, claim_name: 'data' },
  };

const full = (resource: string): KubeError =>
  new KubeError(403, { reason: 'Forbidden', message: 'x: exceeded quota: windlass' }, { verb: 'create', resource });

const isPolicy = (object: Pod | NetworkPolicy): object is NetworkPolicy => object.kind === 'NetworkPolicy';

/** A cache of one object, which is the newest that was written. */
function held<T>(object?: T) {
  let now = object;
  return {
    get: (): T | undefined => now,
    remember: (next: T): void => void (now = next),
    forget: (): void => void (now = undefined),
  };
}

/** A world with one execution. Its writes are read again, as from the server. */
function world(given: Given = {}) {
  const clock = createManualClock(start);
  const agent = readyAgent(given);
  const revision = revisionOf(agent);
  const executions = held(anExecution(given.spec ?? {}));
  const pods = held<Pod>();
  const agents = createCache<Agent, 'namespace'>({
    indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
  });
  if (given.isThere !== false) agents.replaceAll([agent], '1');
  const [made, asked]: [Pod[], string[]] = [[], []];
  const opened: NetworkPolicy[] = [];
  const deleted: string[] = [];
  const facts: Fact[] = [];
  const notFound = new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'pods' });
  const kube = {
    async get({ plural }: { plural: string }) {
      if (plural === 'agentexecutions') return execution();
      if (plural === 'securitycontexts' && given.context !== undefined) return { metadata: {}, spec: given.context };
      if (plural === 'controllerrevisions') return revision;
      if (plural === 'networkpolicies' && opened[0] !== undefined) return opened[0];
      if (given.isOnServer === true && plural === 'agents') return agent;
      if (plural === 'volumes' && given.serverVolume !== undefined) return given.serverVolume;
      if (plural === 'pods') asked.push('look');
      if (plural === 'pods' && given.stored !== undefined) return given.stored;
      throw notFound;
    },
    async create(_resource: unknown, pod: Pod | NetworkPolicy) {
      asked.push(pod.kind ?? '');
      if (isPolicy(pod) && given.policyRefusal !== undefined) throw given.policyRefusal;
      if (isPolicy(pod)) return void opened.push(pod);
      if (given.refusal !== undefined) throw given.refusal;
      const uid = `pod-${made.length + 1}`;
      const creationTimestamp = new Date(clock.now()).toISOString();
      const created = { ...pod, metadata: { ...pod.metadata, uid, creationTimestamp, resourceVersion: '9' } };
      made.push(created);
      return created;
    },
    async jsonPatch(_resource: unknown, _ref: unknown, [, finalizers]: readonly JsonPatchOperation[]) {
      const { value } = finalizers as { readonly value: string[] };
      return { ...execution(), metadata: { ...execution().metadata, finalizers: value } };
    },
    async jsonPatchStatus(_resource: unknown, _ref: unknown, operations: readonly JsonPatchOperation[]) {
      return patched(execution(), operations);
    },
    async delete({ kind }: { kind: string }, { name }: { name: string }) {
      deleted.push(`${kind} ${name}`);
      return true;
    },
  };
  const woken: string[] = [];
  const ends: string[] = [];
  const quota = createQuotaGate(clock, (each) => void woken.push(each));
  const reconcile = createAgentExecutionReconcile({
    quota,
    kube: kube as never,
    clock,
    events: { record: () => undefined, flush: async () => undefined },
    facts: { raise: (fact) => void facts.push(fact) },
    executions: { ...executions, get: (wanted) => (wanted === key ? executions.get() : given.judge) },
    whole: async (slim) => ({ ...slim, spec: { ...slim.spec, ...given.whole } }),
    agents,
    readAgent: async () => undefined,
    pods,
    volumes: { get: () => given.volume, remember: () => undefined },
    nodeConfig: { runtimes: [], isolation: {} },
    settings: podSettings,
    archives: given.archives ?? noArchives,
    recordedEnd: async () => given.recorded ?? { kind: 'open' },
    isEnding: () => false,
    onEnd: (reason) => void ends.push(reason),
    ttlSeconds: 60,
    archiveGraceSeconds: 30,
  });
  const execution = (): AgentExecution => executions.get() ?? anExecution({});
  return {
    clock,
    made,
    asked,
    woken,
    ends,
    opened,
    deleted,
    facts,
    run: async () => reconcile(key),
    status: () => execution().status,
    finalizers: () => execution().metadata.finalizers ?? [],
    isDeleted: (): void => {
      const deletionTimestamp = new Date(clock.now()).toISOString();
      executions.remember({ ...execution(), metadata: { ...execution().metadata, deletionTimestamp } });
    },
    agentAppears: () => agents.replaceAll([agent], '2'),
    agentIsDeleted: () => {
      const deletionTimestamp = new Date(clock.now()).toISOString();
      agents.replaceAll([{ ...agent, metadata: { ...agent.metadata, deletionTimestamp, resourceVersion: '2' } }], '2');
    },
    asks: (spec: Partial<AgentExecutionSpec>): void => {
      const now = execution();
      executions.remember({ ...now, spec: { ...now.spec, ...spec } });
    },
    podIs: (change: (pod: Pod) => Pod): void => {
      const last = made.at(-1);
      if (last !== undefined) pods.remember(change(last));
    },
    podsAreGone: () => pods.forget(),
    /** The status that names the pod was refused: another one has written first. */
    forgetsItsPod: (): void => {
      const { pod: _pod, ...status } = execution().status ?? {};
      executions.remember({ ...execution(), status } as AgentExecution);
    },
    /** Another execution is refused by a full quota. */
    opensLine: (resource: string) =>
      quota
        .create({ namespace: 'tenant-a', resource, key: 'tenant-a/other' }, () => Promise.reject(full(resource)))
        .catch(() => undefined),
  };
}

const running = (pod: Pod): Pod => ({
  ...pod,
  status: { containerStatuses: [{ name: 'step', state: { running: { startedAt: '2026-01-02T00:00:01Z' } } }] },
});
const ended: Recorded = { kind: 'ended', at: '2026-01-02T00:14:59.000Z' };
const result = { phase: 'completed' as const, score: 0.5, at: new Date(start).toISOString() };

describe('an execution of an agent begins', () => {
  it('with its definition fixed, a deadline, and one pod, whose uid may attest', async () => {
    const { run, status, made } = world();
    await run();
    expect(status()).toMatchObject({
      phase: 'running',
      agent: { name: 'reviewer', namespace: 'tenant-a', uid: 'uid-of-reviewer', version: '1.0.0' },
      started_at: '2026-01-02T00:00:00.000Z',
      deadline: '2026-01-02T00:15:00.000Z',
      pod: { name: made[0]?.metadata.name, uid: 'pod-1', attempt: 1 },
    });
    expect(made[0]?.metadata.labels?.[labels.executionUid]).toBe('execution-uid');
  });

  it('with the mounts that its cache has left out', async () => {
    const cut = [{ volume: '', mount_path: '', access_mode: 'read-only' as const }];
    const volumes = [{ volume: 'data', mount_path: '/proc/data', access_mode: 'read-only' as const }];
    const { run, status } = world({ spec: { volumes: cut }, whole: { volumes } });
    await run();
    expect(status()?.message).toContain('/proc/data');
  });

  it('once: looking again changes nothing', async () => {
    const { run, status, made, podIs } = world();
    await run();
    podIs(running);
    await run();
    const before = status();
    await run();
    expect([made.length, status()]).toEqual([1, before]);
  });

  it.each([
    ['its own timeout', { timeout: '1m' }, {}, '2026-01-02T00:01:00'],
    ['the timeout of its agent', {}, { execution: { timeout: '2m' } }, '2026-01-02T00:02:00'],
    ['seven days at most', { timeout: '999999999h' }, {}, '2026-01-09T00:00:00'],
  ])('with %s', async (_title, spec, agent, time) => {
    const { run, status } = world({ spec, agent });
    await run();
    expect(status()?.deadline).toBe(`${time}.000Z`);
  });

  it('and ends once, which is counted by its reason', async () => {
    const { run, asks, ends } = world();
    await run();
    asks({ result: { phase: 'failed', at: new Date(start).toISOString(), reason: 'InternalError', message: 'a bug' } });
    await run();
    await run();
    expect(ends).toEqual(['InternalError']);
  });

  it('without a pod where no tool runs in one', async () => {
    const { run, status, made } = world({ agent: { tools: [{ name: 'web.fetch' }] } });
    expect(await run()).toMatchObject({ requeueAfterMs: 15 * 60_000 });
    expect([made.length, status()?.phase, status()?.pod]).toEqual([0, 'running', undefined]);
  });

  it('when its agent is ready', async () => {
    const { run, status, agentAppears } = world({ isThere: false });
    await run();
    expect(status()).toMatchObject({ phase: 'pending', reason: 'AgentNotFound' });
    agentAppears();
    await run();
    expect(status()).toMatchObject({ phase: 'running' });
    expect(status()).not.toHaveProperty('reason');
  });

  it('not while its agent is refused, and says why', async () => {
    const { run, status } = world({ ready: 'False' });
    await run();
    expect(status()).toMatchObject({
      phase: 'pending',
      reason: 'AgentNotReady',
      message: 'agent reviewer is not ready: bad template',
    });
  });

  it('looks again once a minute where its agent is never accepted: a change of the agent wakes it', async () => {
    const { run, clock } = world({ ready: 'False' });
    expect(await run()).toMatchObject({ requeueAfterMs: 2_000 });
    await clock.advance(10_000);
    expect(await run()).toMatchObject({ requeueAfterMs: 60_000 });
  });

  it('never where there is no such agent, or version', async () => {
    const missing = world({ isThere: false });
    await missing.clock.advance(10_000);
    await missing.run();
    expect(missing.status()).toMatchObject({ phase: 'failed', reason: 'AgentNotFound' });
  });

  it('never where the agent is being deleted, though a finalizer of others keeps it for long', async () => {
    const { run, status, clock, agentIsDeleted } = world();
    agentIsDeleted();
    await run();
    expect(status()).toMatchObject({ phase: 'pending', reason: 'AgentNotFound' });
    await clock.advance(10_000);
    await run();
    expect(status()).toMatchObject({ phase: 'failed', reason: 'AgentNotFound' });
    expect(status()?.message).toMatch(/^agent reviewer is being deleted/);
  });

  it('not while the cache lacks an agent that the server has', async () => {
    const { run, status, clock, agentAppears } = world({ isThere: false, isOnServer: true });
    await clock.advance(10_000);
    await run();
    expect(status()).toMatchObject({ phase: 'pending', reason: 'AgentNotFound' });
    agentAppears();
    await run();
    expect(status()).toMatchObject({ phase: 'running' });
  });

  it('not while the cache lacks a judge that the server has', async () => {
    const validation = { agent: 'strict', threshold: 0.5 };
    const { run, status, clock } = world({ agent: { execution: { validation } }, isOnServer: true });
    await clock.advance(10_000);
    await run();
    expect(status()).toMatchObject({ phase: 'pending', reason: 'AgentNotFound' });
  });

  const mounts = [{ volume: 'data', mount_path: '/data', access_mode: 'read-only' as const }];

  it.each([
    [undefined, 'ready', 'running', undefined],
    [undefined, 'pending', 'running', 'VolumesPending'],
    [undefined, undefined, 'failed', 'VolumeNotFound'],
    ['failed', 'ready', 'running', undefined],
    ['expired', 'ready', 'running', undefined],
    ['failed', 'failed', 'failed', 'VolumeFailed'],
    ['expired', 'expired', 'failed', 'VolumeExpired'],
    ['failed', undefined, 'failed', 'VolumeNotFound'],
  ] as const)('D8 by its volume as the server has it: the cache says %s, the server %s', async (...row) => {
    const [shown, there, phase, reason] = row;
    const [volume, serverVolume] = [aVolume(shown), aVolume(there)];
    const { run, status, clock, made } = world({ spec: { volumes: mounts }, volume, serverVolume });
    await run();
    await clock.advance(10_000);
    await run();
    expect(status()).toMatchObject({ phase });
    expect(made.length > 0 ? undefined : status()?.reason).toBe(reason);
  });

  it('never where the agent that is to judge its answers is missing: nothing is asked of a model', async () => {
    const validation = { agent: 'strickt', threshold: 0.5 };
    const { run, status, clock, made } = world({ agent: { execution: { validation } } });
    await run();
    expect(status()).toMatchObject({ phase: 'pending', reason: 'AgentNotFound' });
    await clock.advance(10_000);
    await run();
    expect(status()).toMatchObject({ phase: 'failed', reason: 'AgentNotFound' });
    expect(status()?.message).toMatch(/^no agent strickt, which judges the answers, .* or change validation\.agent$/);
    expect(made).toEqual([]);
  });

  it('where the agent that is to judge its answers is there', async () => {
    const { run, status } = world({ agent: { execution: { validation: { agent: 'reviewer', threshold: 0.5 } } } });
    await run();
    expect(status()).toMatchObject({ phase: 'running' });
  });

  const refused = async (status: number, message: string) => {
    const refusal = new KubeError(status, { reason: 'Forbidden', message }, { verb: 'create', resource: 'pods' });
    const there = world({ refusal });
    await there.run();
    return there.status();
  };

  it('when a full quota has room again', async () => {
    const message = 'exceeded quota: windlass';
    expect(await refused(403, message)).toMatchObject({ phase: 'running', reason: 'QuotaExceeded', message });
  });

  it('in the line of its namespace: nothing is asked of the server before its turn', async () => {
    const there = world({ refusal: full('pods') });
    for (let look = 0; look < 5; look++) await there.run();
    expect(there.asked).toEqual(['Pod', 'look']);
    await there.clock.advance(2_000);
    expect(there.woken).toEqual([key]);
    await there.run();
    expect(there.asked).toEqual(['Pod', 'look', 'Pod', 'look']);
  });

  it('for an hour at most', async () => {
    const there = world({ agent: { execution: { timeout: '5h' } }, refusal: full('pods') });
    await there.run();
    await there.clock.advance(3_600_000 - 1);
    expect(await there.run()).toMatchObject({ requeueAfterMs: 1 });
    expect(there.status()).toMatchObject({ phase: 'running', reason: 'QuotaExceeded' });
    await there.clock.advance(1);
    await there.run();
    expect(there.status()).toMatchObject({ phase: 'failed', reason: 'QuotaExceeded' });
  });

  it.each([
    ['runs on the server by now', 'running', undefined],
    ['waits there as well', 'failed', 'NeverStarted'],
  ])('AMB-197 and is no failure of its start before the server is asked: the pod %s', async (_title, phase, reason) => {
    let stored: Pod | undefined;
    const there = world({
      agent: { execution: { timeout: '5h' } },
      get stored() {
        return stored;
      },
    });
    await there.run();
    const [pod] = there.made;
    if (pod === undefined) throw new Error('no pod was made');
    const waiting: Pod = { ...pod, status: { phase: 'Pending' } };
    there.podIs(() => waiting);
    stored = phase === 'running' ? running(pod) : waiting;
    await there.clock.advance(3_600_000);
    await there.run();
    expect(there.status()?.phase).toBe(phase);
    expect(there.status()?.reason).toBe(reason);
  });

  it('D8 and is not lost with a node that has answered since', async () => {
    let stored: Pod | undefined;
    const there = world({
      get stored() {
        return stored;
      },
    });
    await there.run();
    const [pod] = there.made;
    if (pod === undefined) throw new Error('no pod was made');
    stored = running(pod);
    const metadata = { ...pod.metadata, deletionTimestamp: new Date(start).toISOString() };
    there.podIs(() => ({ ...pod, metadata, spec: { ...pod.spec, nodeName: 'n' } }));
    await there.clock.advance(16_000);
    await there.run();
    expect(there.status()?.phase).toBe('running');
    expect(there.made.length).toBe(1);
  });

  it.each(['exceeded quota: windlass', 'no right to pods'])(
    'again when there is room before its deadline, where its pod was lost after an hour: %s',
    async (message) => {
      const request = { verb: 'create', resource: 'pods' };
      let refusal: KubeError | undefined;
      const agent = { execution: { timeout: '5h' } };
      const there = world({
        agent,
        get refusal() {
          return refusal;
        },
      });
      await there.run();
      await there.clock.advance(2 * 3_600_000);
      there.podsAreGone();
      refusal = new KubeError(403, { reason: 'Forbidden', message }, request);
      await there.run();
      expect(there.status()).toMatchObject({ phase: 'running', pod: { attempt: 2 }, message });
      await there.clock.advance(3 * 3_600_000 - 1);
      expect(await there.run()).toMatchObject({ requeueAfterMs: 1 });
      expect(there.status()).toMatchObject({ phase: 'running' });
      await there.clock.advance(1);
      await there.run();
      expect(there.status()).toMatchObject({ phase: 'failed', reason: 'Timeout' });
      expect(there.status()?.message).toContain(message);
    },
  );

  it('with the pod that was made before, which may be what fills the quota', async () => {
    const before = world();
    await before.run();
    const [stored] = before.made;
    const after = world({ refusal: full('pods'), ...(stored === undefined ? {} : { stored }) });
    await after.run();
    expect(after.status()).toMatchObject({ phase: 'running', pod: { name: stored?.metadata.name, uid: 'pod-1' } });
    expect(after.status()?.reason).toBeUndefined();
  });

  it('with the pod that was made before, though another one has opened the line of a full quota since', async () => {
    const there = world();
    await there.run();
    there.forgetsItsPod();
    await there.opensLine('pods');
    await there.run();
    expect(there.status()).toMatchObject({
      phase: 'running',
      pod: { name: there.made[0]?.metadata.name, uid: 'pod-1' },
    });
    expect([there.made.length, there.status()?.reason]).toEqual([1, undefined]);
  });

  it('with the policy of its networks that was made before, though another one has opened the line since', async () => {
    const there = world({ context: { network: 'listed', networks: [{ cidr: '10.1.0.0/16', ports: [443] }] } });
    await there.run();
    there.forgetsItsPod();
    await there.opensLine('networkpolicies');
    await there.run();
    expect([there.opened.length, there.status()?.reason]).toEqual([1, undefined]);
    expect(there.status()?.pod).toMatchObject({ uid: 'pod-1' });
  });

  it('when there is room for the policy of its networks', async () => {
    const networks = [{ cidr: '10.1.0.0/16', ports: [443] }];
    const policyRefusal = full('networkpolicies');
    const there = world({ context: { network: 'listed', networks }, policyRefusal });
    await there.run();
    expect(there.status()).toMatchObject({ phase: 'running', reason: 'QuotaExceeded' });
  });

  it('never where its pod is refused', async () => {
    const message = 'image: invalid';
    expect(await refused(422, message)).toMatchObject({ phase: 'failed', reason: 'PodRejected', message });
  });

  it('WF-AGENT-04 never where the cluster lacks the RuntimeClass of its isolation, and says which', async () => {
    const message = 'pods "run-1" is forbidden: pod rejected: RuntimeClass "kata" not found';
    expect(await refused(403, message)).toMatchObject({ phase: 'failed', reason: 'IsolationUnavailable', message });
  });

  it('when a right that it lacks is granted', async () => {
    const message = 'pods is forbidden: User "x" cannot create resource "pods"';
    expect(await refused(403, message)).toMatchObject({ phase: 'running', reason: 'Forbidden', message });
  });

  it('ADR 0100 with a policy for the networks that its SecurityContext lists, owned by it', async () => {
    const networks = [
      { cidr: '10.1.0.0/16', ports: [443, 5_432] },
      { cidr: '2001:db8::/48', ports: [80] },
    ];
    const { run, made, opened } = world({ context: { network: 'listed', networks } });
    await run();
    const [policy] = opened;
    expect(policy?.metadata).toMatchObject({
      namespace: 'tenant-a',
      ownerReferences: [{ kind: 'AgentExecution', uid: 'execution-uid' }],
    });
    expect(policy?.spec).toEqual({
      podSelector: {
        matchLabels: { [labels.executionUid]: 'execution-uid' },
        matchExpressions: [{ key: labels.agentExecution, operator: 'Exists' }],
      },
      policyTypes: ['Egress'],
      egress: [
        {
          to: [{ ipBlock: { cidr: '10.1.0.0/16' } }],
          ports: [
            { protocol: 'TCP', port: 443 },
            { protocol: 'TCP', port: 5_432 },
          ],
        },
        { to: [{ ipBlock: { cidr: '2001:db8::/48' } }], ports: [{ protocol: 'TCP', port: 80 }] },
      ],
    });
    expect(made[0]?.metadata.labels).toMatchObject({ [labels.executionUid]: 'execution-uid' });
    expect(Object.keys(made[0]?.metadata.labels ?? {})).toContain(labels.agentExecution);
  });

  it.each<[string, SecurityContextSpec | undefined]>([
    ['names none', { network: 'none' }],
    ['says nothing of networks', {}],
    ['does not exist', undefined],
  ])('ADR 0100 without a policy where its SecurityContext %s', async (_title, context) => {
    const { run, made, opened } = world(context === undefined ? {} : { context });
    await run();
    expect([opened.length, made.length]).toEqual([0, 1]);
  });

  it('WF-AGENT-04 not with less isolation than was asked for', async () => {
    const { run, status, made } = world({ spec: { isolation: 'firecracker' } });
    await run();
    expect([made.length, status()?.phase, status()?.reason]).toEqual([0, 'failed', 'IsolationUnavailable']);
  });
});

describe('an execution of an agent waits for a person', () => {
  const ask = {
    id: 'ask-1',
    tool: 'cmd.run',
    arguments: '{}',
    asked_at: '2026-01-02T00:00:00.000Z',
    until: '2026-01-02T00:05:00.000Z',
  };
  const answer = { id: 'ask-1', response: 'approved' as const, by: 'ada', at: '2026-01-02T00:01:00Z' };
  const waiting = async () => {
    const there = world({ agent: { tools: [{ name: 'web.fetch' }] } });
    await there.run();
    there.asks({ ask });
    return there;
  };

  it('as long as the call has no answer, and is looked at again when its time is over', async () => {
    const { run, status, clock } = await waiting();
    expect(await run()).toEqual({ requeueAfterMs: 5 * 60_000, reason: 'WaitingForApproval' });
    expect(status()).toMatchObject({
      phase: 'waiting',
      reason: 'WaitingForApproval',
      message: 'a call of cmd.run waits for approval until 2026-01-02T00:05:00.000Z',
      conditions: [{ type: 'Succeeded', status: 'Unknown', reason: 'WaitingForApproval' }],
    });
    await clock.advance(5 * 60_000);
    await run();
    expect(status()?.phase).toBe('running');
    expect(status()).not.toHaveProperty('reason');
  });

  it('and shows why its conversation waits for a provider, for as long as the API says so', async () => {
    const { run, status, asks } = await waiting();
    const wait = { reason: 'ProviderBusy', message: 'no turn yet', since: '2026-01-02T00:00:00Z' } as const;
    asks({ ask: undefined, wait });
    await run();
    const said = { reason: 'ProviderBusy', message: 'no turn yet' };
    expect(status()).toMatchObject({ phase: 'running', ...said, conditions: [{ status: 'Unknown', ...said }] });
    asks({ wait: undefined });
    await run();
    expect(status()).not.toHaveProperty('reason');
  });

  it.each([
    ['it is answered', { ask, signals: [answer] }],
    ['the API has taken it away', { ask: undefined }],
  ])('no more when %s', async (_title, spec) => {
    const { run, status, asks } = await waiting();
    await run();
    asks(spec as Partial<AgentExecutionSpec>);
    await run();
    expect(status()?.phase).toBe('running');
  });

  it('and ends like any other: cancelled, or out of time', async () => {
    const first = await waiting();
    await first.run();
    first.asks({ cancel: { by: 'ann', at: '2026-01-02T00:00:02Z' } });
    await first.run();
    expect(first.status()?.phase).toBe('cancelled');
    const second = await waiting();
    second.asks({ ask: { ...ask, until: '2026-01-02T01:00:00.000Z' } });
    await second.run();
    await second.clock.advance(15 * 60_000);
    await second.run();
    expect(second.status()).toMatchObject({ phase: 'failed', reason: 'Timeout' });
    expect(second.status()?.message).toContain('; it waited: WaitingForApproval: ');
  });

  it('and says so where its conversation had ended, and Kubernetes stored no outcome before its deadline', async () => {
    const late = world({ recorded: ended });
    await late.run();
    await late.clock.advance(16 * 60_000);
    await late.run();
    expect(late.status()).toMatchObject({ phase: 'failed', reason: 'Timeout' });
    expect(late.status()?.message).toMatch(
      /; its conversation ended at 2026-01-02T00:14:59.000Z, and Kubernetes stored no/,
    );
  });

  it('never before it has begun', async () => {
    const { run, status, asks } = world({ isThere: false });
    asks({ ask });
    await run();
    expect(status()?.phase).toBe('pending');
  });
});

describe('an execution of an agent ends', () => {
  it('with the outcome, and its pod is deleted', async () => {
    const { run, status, asks, podIs, deleted, made, facts } = world();
    await run();
    podIs(running);
    asks({ result });
    await run();
    expect(status()).toMatchObject({ phase: 'completed', score: 0.5, finished_at: result.at });
    expect(status()?.conditions?.[0]).toMatchObject({ type: 'Succeeded', status: 'True' });
    expect(deleted).toEqual([`Pod ${made[0]?.metadata.name}`]);
    expect(facts).toMatchObject([{ topic: 'execution', type: 'AgentExecutionEnded', subject: 'execution-uid' }]);
  });

  it('when it is cancelled, and its pod is deleted', async () => {
    const { run, status, asks, podIs, deleted } = world();
    await run();
    podIs(running);
    asks({ cancel: { by: 'ann', at: result.at } });
    await run();
    expect([status()?.phase, deleted.length]).toEqual(['cancelled', 1]);
  });

  it('at its deadline', async () => {
    const { run, status, podIs, clock, deleted } = world();
    await run();
    podIs(running);
    await clock.advance(15 * 60_000);
    await run();
    expect([status()?.phase, status()?.reason, deleted.length]).toEqual(['failed', 'Timeout', 1]);
  });

  it('at its deadline, and says where its judge waits for a place in a full quota', async () => {
    const { metadata, spec } = anExecution({});
    const name = judgeExecutionName('execution-uid', 1);
    const [labelled, full] = [{ [labels.parentUid]: 'execution-uid' }, 'exceeded quota: windlass'];
    const status = { phase: 'running' as const, reason: 'QuotaExceeded', message: full };
    const judge = { ...anExecution({}), metadata: { ...metadata, name, labels: labelled }, spec, status };
    const { run, status: ended, podIs, clock } = world({ judge });
    await run();
    podIs(running);
    await clock.advance(15 * 60_000);
    await run();
    expect(ended()?.message).toContain(`; its judge ${name} waited: QuotaExceeded: ${full}`);
  });

  const exited = (at: string) => (pod: Pod) => ({
    ...pod,
    status: {
      phase: 'Failed' as const,
      containerStatuses: [{ name: 'step', state: { terminated: { exitCode: 1, startedAt: at, finishedAt: at } } }],
    },
  });

  it.each<[string, Recorded, RegExp]>([
    [
      'its conversation has ended, until the outcome is stored',
      ended,
      /ended at 2026-01-02T00:14:59.000Z, and its outcome/,
    ],
    [
      'the event bus does not say whether it has ended',
      { kind: 'unknown', problem: 'no answer' },
      /the event bus does not say .*: no answer$/,
    ],
  ])('not with its pod where %s', async (_title, recorded, message) => {
    const { run, status, podIs, clock, asks } = world({ recorded });
    await run();
    podIs(exited(new Date(clock.now()).toISOString()));
    await clock.advance(1_000 + agentLimits.outcomeMs);
    expect(await run()).toMatchObject({ requeueAfterMs: agentLimits.outcomeMs });
    expect(status()).toMatchObject({ phase: 'running', reason: 'OutcomePending' });
    expect(status()?.message).toMatch(message);
    asks({ result });
    await run();
    expect(status()).toMatchObject({ phase: 'completed', score: 0.5 });
  });

  it.each<[string, Recorded, RegExp]>([
    ['its conversation has ended before it', ended, /ended at 2026-01-02T00:14:59.000Z, and Kubernetes stored no/],
    [
      'the event bus does not say whether it has ended',
      { kind: 'unknown', problem: 'no answer' },
      /; the event bus does not say/,
    ],
  ])('not at its deadline where %s: a minute later', async (_title, recorded, message) => {
    const { run, status, clock } = world({ recorded });
    await run();
    await clock.advance(15 * 60_000 + agentLimits.lateOutcomeMs - 1);
    expect(await run()).toMatchObject({ requeueAfterMs: 1 });
    expect(status()).toMatchObject({ phase: 'running', reason: 'OutcomePending' });
    await clock.advance(1);
    await run();
    expect(status()).toMatchObject({ phase: 'failed', reason: 'Timeout' });
    expect(status()?.message).toMatch(message);
    expect(status()?.message).not.toContain('OutcomePending');
  });

  it('with the answer that its conversation had at its deadline, where that is stored within a minute', async () => {
    const { run, status, clock, asks } = world({ recorded: ended });
    await run();
    await clock.advance(15 * 60_000);
    expect(await run()).toMatchObject({ requeueAfterMs: agentLimits.outcomeMs });
    asks({ result });
    await run();
    expect(status()).toMatchObject({ phase: 'completed', score: 0.5 });
  });

  it('with its pod where the conversation continues, 15 s after the second in which that ended', async () => {
    const { run, status, podIs, clock } = world();
    await run();
    podIs(exited(new Date(clock.now()).toISOString()));
    await clock.advance(1_000 + agentLimits.outcomeMs - 1);
    await run();
    expect(status()?.phase).toBe('running');
    await clock.advance(1);
    await run();
    expect(status()).toMatchObject({ phase: 'failed', reason: 'PodFailed' });
  });

  it('not with its fourth pod where its conversation has ended', async () => {
    const { run, status, podsAreGone } = world({ recorded: ended });
    for (const attempt of [1, 2, 3, 4]) {
      await run();
      expect(status()?.pod).toMatchObject({ attempt });
      podsAreGone();
    }
    await run();
    expect(status()).toMatchObject({ phase: 'running', reason: 'OutcomePending' });
  });

  it('AMB-197 when its fourth pod is lost', async () => {
    const { run, status, made, podsAreGone } = world();
    for (const attempt of [1, 2, 3, 4]) {
      await run();
      expect(status()?.pod).toMatchObject({ attempt, uid: `pod-${attempt}` });
      podsAreGone();
    }
    await run();
    expect([made.length, status()?.phase, status()?.reason]).toEqual([4, 'failed', 'PodLost']);
    expect(new Set(made.map(({ metadata }) => metadata.name)).size).toBe(4);
  });

  it('and is deleted when its time is over', async () => {
    const { run, asks, clock, deleted } = world({ spec: { ttl_seconds_after_finished: 5 } });
    asks({ result });
    expect(await run()).toMatchObject({ requeueAfterMs: 5_000 });
    await clock.advance(4_999);
    await run();
    expect(deleted).toEqual([]);
    await clock.advance(1);
    await run();
    expect(deleted).toEqual(['AgentExecution run']);
  });

  it('and stays with its parent where it has one', async () => {
    const { run, asks, clock, deleted } = world({
      spec: { parent: { name: 'p', uid: 'pu', state: 's', visit: 1 } },
    });
    asks({ result });
    expect(await run()).toBeUndefined();
    await clock.advance(3_600_000);
    await run();
    expect(deleted).toEqual([]);
  });
});

describe('AMB-174 an execution of an agent is archived', () => {
  /** An archive that writes nothing until it is said to. */
  function anArchive() {
    let fact: ArchiveFact = { kind: 'pending' };
    const begun: string[] = [];
    const unarchived: string[] = [];
    const archives: Archives<AgentExecution> = {
      stateOf: () => fact,
      begin: ({ metadata }) => void begun.push(metadata.name),
      forget: () => undefined,
      unarchived: (_execution, why) => void unarchived.push(why),
    };
    return { archives, begun, unarchived, becomes: (next: ArchiveFact): void => void (fact = next) };
  }

  const ended = async () => {
    const archive = anArchive();
    const there = world({ spec: { ttl_seconds_after_finished: 5 }, archives: archive.archives });
    there.asks({ result });
    await there.run();
    return { ...archive, ...there };
  };

  it('when it ends, and its status says so', async () => {
    const { run, begun, becomes, status, finalizers } = await ended();
    expect([begun, status()?.archived_at]).toEqual([['run'], undefined]);
    becomes({ kind: 'archived', at: start + 20 });
    await run();
    expect([status()?.phase, status()?.archived_at]).toEqual(['completed', '2026-01-02T00:00:00.020Z']);
    expect(finalizers()).toEqual([]);
  });

  it('before its deletion: it is held from a second after its end, by its time to live as well', async () => {
    const { run, becomes, clock, finalizers, deleted } = await ended();
    await clock.advance(999);
    await run();
    expect(finalizers()).toEqual([]);
    await clock.advance(1);
    await run();
    expect(finalizers()).toEqual([archiveFinalizer]);
    await clock.advance(60_000 - 30_000);
    await run();
    expect(deleted).toEqual([]);
    becomes({ kind: 'archived', at: clock.now() });
    await run();
    expect([finalizers(), deleted]).toEqual([[], ['AgentExecution run']]);
  });

  it('or not at all: after the grace it is deleted, and an event says so', async () => {
    const { run, becomes, clock, deleted, unarchived, finalizers } = await ended();
    await clock.advance(1_000);
    await run();
    becomes({ kind: 'pending', problem: 'the bus is away' });
    await clock.advance(5_000 + 30_000);
    await run();
    expect([finalizers(), deleted, unarchived]).toEqual([[], ['AgentExecution run'], ['the bus is away']]);
  });

  it('with its pod, though a finalizer of others keeps the deleted execution for long', async () => {
    const { run, made, isDeleted, deleted } = world();
    await run();
    isDeleted();
    await run();
    expect(deleted).toEqual([`Pod ${made[0]?.metadata.name}`]);
  });

  it('where a person deletes it meanwhile', async () => {
    const { run, becomes, clock, isDeleted, finalizers, begun } = await ended();
    await clock.advance(1_000);
    await run();
    isDeleted();
    begun.length = 0;
    expect(await run()).toMatchObject({ reason: 'archive' });
    expect([begun, finalizers()]).toEqual([['run'], [archiveFinalizer]]);
    becomes({ kind: 'archived', at: clock.now() });
    await run();
    expect(finalizers()).toEqual([]);
  });
});

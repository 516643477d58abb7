import { describe, expect, it } from 'vitest';
import type { GitBinding, GitBindingSpec, GitBindingStatus } from '../../crds/schema/git-binding.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import { createCache } from '../../lib/informer/index.ts';
import { type JsonPatchOperation, KubeError, type Pod } from '../../lib/kube/index.ts';
import { aGitBinding, aGitVolume } from '../../test/builders/git-binding.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createQuotaGate } from '../step-pods/quota-gate.ts';
import { noOutput, type StepOutcome } from '../step-pods/step.ts';
import { gitSource, sourceText } from './decide.ts';
import { gitLimits } from './limits.ts';
import { createGitBindingReconcile } from './reconcile.ts';

const settings = {
  runnerImage: 'runner',
  systemImage: 'system',
  imageVolumes: true,
  runAsUser: 65_532,
  workdirSize: '1Gi',
  alwaysPull: false,
  defaultResources: {},
  nodeLostSeconds: 60,
  gitImage: 'git',
  networks: [],
  clusterNetworks: [],
};

interface Given {
  readonly spec?: Partial<GitBindingSpec>;
  readonly status?: GitBindingStatus;
  readonly volume?: Volume | undefined;
  /** The volume as the server has it. */
  readonly serverVolume?: Volume;
  readonly hasImage?: boolean;
  /** Whether the namespace is a tenant in the cache, and on the server. */
  readonly isTenant?: boolean;
  readonly isServerTenant?: boolean;
}

/** One binding, its volume and its pods; the API server is a map, for what is asked of it is what counts here. */
function setUp(given: Given = {}) {
  const clock = createManualClock();
  const bindings = createCache<GitBinding>();
  const [volumes, pods] = [createCache<Volume>(), createCache<Pod>()];
  bindings.replaceAll([aGitBinding(given.spec, given.status)], '5');
  const volume = 'volume' in given ? given.volume : aGitVolume();
  volumes.replaceAll(volume === undefined ? [] : [volume], '5');
  pods.replaceAll([], '5');
  const [made, deleted, notes]: [Pod[], string[], string[]] = [[], [], []];
  const world = {
    outcome: undefined as StepOutcome | undefined,
    refusal: undefined as KubeError | undefined,
    stored: undefined as Pod | undefined,
    /** Happens during a create that is refused. */
    onRefused: (): void => undefined,
    asked: [] as string[],
    tenantReads: 0,
  };
  const kube = {
    async create(resource: { kind: string }, object: Pod) {
      world.asked.push(resource.kind);
      if (world.refusal !== undefined) {
        world.onRefused();
        throw world.refusal;
      }
      const { creationTimestamp = new Date(clock.now()).toISOString() } = object.metadata;
      const name = object.metadata.name ?? '';
      const stored = {
        ...object,
        metadata: { ...object.metadata, uid: `uid-${name}`, creationTimestamp, resourceVersion: '6' },
      };
      if (resource.kind === 'Pod') made.push(stored);
      return stored;
    },
    get: async ({ kind }: { kind: string }, { name }: { name: string }) => {
      if (kind === 'Volume' && given.serverVolume !== undefined) return given.serverVolume;
      if (name === world.stored?.metadata.name) return world.stored;
      throw new KubeError(404, { reason: 'NotFound' } as never, { verb: 'get', resource: 'pods' });
    },
    async delete(_: unknown, { name }: { name: string }) {
      deleted.push(name);
      pods.replaceAll([], '9');
    },
    async jsonPatchStatus(_: unknown, __: unknown, patch: readonly JsonPatchOperation[]) {
      const before = bindings.get('tenant-acme/site') as GitBinding;
      return applied(before, patch);
    },
  };
  const woken: string[] = [];
  const quota = createQuotaGate(clock, (key) => void woken.push(key));
  const reconcile = createGitBindingReconcile({
    quota,
    kube: kube as never,
    clock,
    bindings,
    volumes,
    pods,
    events: { record: ({ note }) => void notes.push(note), flush: async () => undefined },
    reader: {
      outcomeOf: () => world.outcome,
      follow: () => undefined,
      forget: () => undefined,
      noteOf: () => 'no node',
    },
    isTenant: () => given.isTenant ?? true,
    readTenant: async () => {
      world.tenantReads += 1;
      return (given.isServerTenant ?? given.isTenant ?? true) ? 'acme' : undefined;
    },
    settings: given.hasImage === false ? undefined : settings,
  });
  const status = () => bindings.get('tenant-acme/site')?.status;
  /** The kubelet has started the pod that was made last. */
  const start = () => {
    const pod = made.at(-1) as Pod;
    const startedAt = new Date(clock.now()).toISOString();
    const containerStatuses = [{ name: 'step', state: { running: { startedAt } } }];
    pods.replaceAll([{ ...pod, status: { phase: 'Running', containerStatuses } } as unknown as Pod], '7');
  };
  return {
    clock,
    world,
    made,
    deleted,
    notes,
    status,
    start,
    pods,
    bindings,
    woken,
    quota,
    look: () => reconcile('tenant-acme/site'),
  };
}

const running = (pod: Pod): Pod => {
  const containerStatuses = [{ name: 'step', state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }];
  const metadata = { ...pod.metadata, resourceVersion: '9' };
  return { ...pod, metadata, status: { phase: 'Running', containerStatuses } } as unknown as Pod;
};

/** The status after a patch of its top-level fields, which is all that this test reads. */
function applied(before: GitBinding, patch: readonly JsonPatchOperation[]): GitBinding {
  const next = structuredClone({ ...before, status: before.status ?? {} }) as unknown as Record<string, unknown>;
  for (const operation of patch) {
    const keys = operation.path.slice(1).split('/');
    const last = keys.pop() ?? '';
    let at = next;
    for (const key of keys) at = at[key] as Record<string, unknown>;
    if (operation.op === 'remove') delete at[last];
    else if ('value' in operation) at[last] = operation.value;
  }
  return {
    ...(next as unknown as GitBinding),
    metadata: { ...before.metadata, resourceVersion: `${Number(before.metadata.resourceVersion) + 1}` },
  };
}

const commit = 'b'.repeat(40);
const good = (more = ''): StepOutcome => ({
  ...noOutput,
  exitCode: 0,
  stdout: `{"ok":true,"commit":"${commit}","branch":"main","changed":true,"ahead":false,"bytes":7${more}}`,
});
const bad: StepOutcome = {
  ...noOutput,
  exitCode: 0,
  stdout: '{"ok":false,"error":"NOT_FOUND","message":"no repository"}',
};

describe('a binding', () => {
  it('gets a volume, a pod and a tree', async () => {
    const world = setUp();
    await world.look();
    expect(world.status()).toMatchObject({
      phase: 'working',
      request: { op: 'sync', phase: 'running', attempt: 1, pod: world.made[0]?.metadata.name },
    });
    world.start();
    await world.look();
    expect(world.made).toHaveLength(1);
    world.world.outcome = good();
    await world.look();
    expect(world.status()).toMatchObject({
      phase: 'ready',
      commit,
      branch: 'main',
      bytes: 7,
      volume: { name: 'git-site', uid: 'volume-uid' },
      request: { phase: 'succeeded' },
      conditions: [{ type: 'Ready', status: 'True', reason: 'Synced' }],
    });
    expect(world.deleted).toEqual([world.made[0]?.metadata.name]);
    world.world.outcome = undefined;
    expect(await world.look()).toBeUndefined();
    expect(world.made).toHaveLength(1);
  });

  it('that cannot be cloned says why, and is not tried again by itself', async () => {
    const world = setUp();
    await world.look();
    world.start();
    world.world.outcome = bad;
    await world.look();
    expect(world.status()).toMatchObject({
      phase: 'failed',
      sync_error: 'NOT_FOUND: no repository',
      conditions: [{ status: 'False', reason: 'SyncFailed', message: 'NOT_FOUND: no repository' }],
    });
    expect(world.notes).toEqual(['sync: NOT_FOUND: no repository']);
    await world.look();
    expect(world.made).toHaveLength(1);
  });

  it('syncs again where its spec changed during a sync, whose pods follow the spec from its begin', async () => {
    const world = setUp({ spec: { ref: 'main' } });
    await world.look();
    const before = world.bindings.get('tenant-acme/site') as GitBinding;
    const spec = { ...before.spec, ref: 'next', depth: 7, credentials: { secret: { name: 'forge' } } };
    world.bindings.replaceAll(
      [{ ...before, spec, metadata: { ...before.metadata, generation: 4, resourceVersion: '30' } }],
      '20',
    );
    world.pods.replaceAll([], '8');
    await world.look();
    await world.look();
    const commandOf = (index: number) => JSON.stringify(world.made[index]?.spec.containers[0]?.command);
    expect(commandOf(1)).toContain(String.raw`\"ref\":\"main\",\"depth\":1`);
    expect(JSON.stringify(world.made[1])).not.toContain('forge');
    world.start();
    world.world.outcome = good();
    await world.look();
    world.world.outcome = undefined;
    await world.look();
    expect(world.status()?.request).toMatchObject({ id: 'sync-4', op: 'sync', phase: 'running' });
    expect(commandOf(2)).toContain(String.raw`\"ref\":\"next\",\"depth\":7`);
    expect(JSON.stringify(world.made[2])).toContain('forge');
  });

  it('has another pod for a request whose id was used before', async () => {
    const request = { id: 'r1', op: 'status' } as const;
    const known = {
      tried_source: sourceText(gitSource(aGitBinding())),
      volume: { name: 'git-site', uid: 'volume-uid' },
    };
    const first = setUp({ spec: { request }, status: known });
    await first.look();
    const second = setUp({ spec: { request }, status: known });
    await second.clock.advance(1);
    await second.look();
    expect(second.made[0]?.metadata.name).not.toBe(first.made[0]?.metadata.name);
  });

  it.each([
    ['no image', { hasImage: false }],
    ['a volume of another owner', { volume: aGitVolume({ owner: 'stranger' }) }],
    ['a failed volume', { volume: aGitVolume({ phase: 'failed' }) }],
  ])('that is blocked by %s is looked at again', async (_title, given) => {
    const again = await setUp(given).look();
    expect(again?.requeueAfterMs).toBeGreaterThanOrEqual(30_000);
    expect(again?.requeueAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('syncs once nothing blocks it, also after a request for a sync was refused', async () => {
    const spec = { request: { id: 'r1', op: 'sync' } } as const;
    const blocked = setUp({ spec, hasImage: false });
    await blocked.look();
    const world = setUp({ spec, status: blocked.status() as GitBindingStatus });
    await world.look();
    expect(world.status()?.request).toMatchObject({ op: 'sync', phase: 'running' });
  });

  it('stays ready where a sync would hide work of the tenant', async () => {
    const known = { commit, tried_source: 'another', volume: { name: 'git-site', uid: 'volume-uid' } };
    const world = setUp({ status: known });
    await world.look();
    world.start();
    world.world.outcome = {
      ...bad,
      stdout: '{"ok":false,"error":"UncommittedChanges","message":"2 files differ"}',
    };
    await world.look();
    expect(world.status()).toMatchObject({ phase: 'ready', commit, request: { error: 'UncommittedChanges' } });
    expect(world.status()?.sync_error).toBeUndefined();
  });

  it('D8 begins what is asked for in a tenant that the server has and the cache lacks, and fails it in none', async () => {
    const spec = { request: { id: 'r1', op: 'sync' } } as const;
    const late = setUp({ spec, isTenant: false, isServerTenant: true });
    await late.look();
    expect(late.status()?.request).toMatchObject({ id: 'r1', phase: 'running' });
    const stranger = setUp({ spec, isTenant: false });
    await stranger.look();
    expect(stranger.status()).toMatchObject({
      request: { id: 'r1', phase: 'failed', error: 'NotATenant' },
      conditions: [{ reason: 'NotATenant' }],
    });
    expect(stranger.made).toEqual([]);
  });

  it.each([
    ['begins nothing', {}],
    ['makes no volume', { volume: undefined }],
  ])('D8 %s in a tenant that the cache has and the server does not any more', async (_title, given) => {
    const former = setUp({ ...given, isServerTenant: false });
    await former.look();
    expect(former.status()?.conditions).toMatchObject([{ reason: 'NotATenant' }]);
    expect([former.made, former.world.asked]).toEqual([[], []]);
  });

  it('D8 asks for its tenant once where an operation begins, and not while that runs or while it rests', async () => {
    const world = setUp();
    await world.look();
    world.start();
    await world.look();
    world.world.outcome = good();
    await world.look();
    world.world.outcome = undefined;
    await world.look();
    expect(world.status()?.phase).toBe('ready');
    expect(world.world.tenantReads).toBe(1);
  });

  it('makes its volume', async () => {
    const world = setUp({ volume: undefined });
    await world.look();
    expect(world.status()).toMatchObject({ phase: 'pending', conditions: [{ reason: 'VolumesPending' }] });
    expect(world.made).toEqual([]);
  });

  it('does an operation again whose pod was lost, three times at most', async () => {
    const world = setUp();
    await world.look();
    for (let attempt = 1; attempt <= gitLimits.attempts; attempt += 1) {
      expect(world.status()?.request).toMatchObject({ attempt, phase: 'running' });
      world.pods.replaceAll([], '8');
      await world.look();
      if (attempt < gitLimits.attempts) await world.look();
    }
    expect(world.made).toHaveLength(gitLimits.attempts);
    expect(world.status()).toMatchObject({
      sync_error: expect.stringMatching(/^PodLost: the pod was lost 3 times/) as unknown,
    });
  });

  it('a replica that takes over finds the pod that was made', async () => {
    const world = setUp();
    await world.look();
    const { request, ...rest } = world.status() ?? {};
    const { pod: _pod, ...unnamed } = request ?? { id: '', op: 'sync', phase: 'running', attempt: 1 };
    const behind = aGitBinding({}, { ...rest, request: unnamed as never });
    world.bindings.replaceAll([{ ...behind, metadata: { ...behind.metadata, resourceVersion: '50' } }], '60');
    world.pods.replaceAll([], '7');
    await world.look();
    expect(world.made[1]?.metadata.name).toBe(world.made[0]?.metadata.name);
  });

  const full = new KubeError(
    403,
    { reason: 'Forbidden', message: 'pods "x" is forbidden: exceeded quota: windlass' } as never,
    { verb: 'create', resource: 'pods' },
  );

  it('says that it waits for room, asks in the line of its namespace, and fails after an hour', async () => {
    const world = setUp();
    world.world.refusal = full;
    const began = world.clock.now();
    await world.look();
    expect(world.status()).toMatchObject({
      phase: 'working',
      request: { phase: 'running', message: expect.stringContaining('exceeded quota') as unknown },
      conditions: [{ status: 'False', reason: 'QuotaExceeded' }],
    });
    // Until its turn comes nothing is asked of the server, however often it is looked at.
    for (let look = 0; look < 5; look++) await world.look();
    expect(world.world.asked).toEqual(['Pod']);
    await world.clock.advance(2_000);
    expect(world.woken).toEqual(['tenant-acme/site']);
    await world.clock.advance(began + gitLimits.quotaMs - 1 - world.clock.now());
    expect(await world.look()).toMatchObject({ requeueAfterMs: 1 });
    await world.clock.advance(1);
    await world.look();
    expect(world.status()).toMatchObject({ phase: 'failed', request: { phase: 'failed', error: 'QuotaExceeded' } });
  });

  it('keeps its tree as ready while a later operation waits for room', async () => {
    const known = setUp();
    await known.look();
    known.start();
    known.world.outcome = good();
    await known.look();
    const world = setUp({ spec: { request: { id: 'r1', op: 'push' } }, status: known.status() as GitBindingStatus });
    world.world.refusal = full;
    await world.look();
    expect(world.status()).toMatchObject({
      request: { id: 'r1', message: expect.stringContaining('exceeded quota') as unknown },
      conditions: [{ status: 'True', reason: 'Synced' }],
    });
  });

  it('finds a pod that was made before though the quota is full, of which that pod is a part', async () => {
    const world = setUp();
    await world.look();
    const { request, ...rest } = world.status() ?? {};
    const { pod: _pod, ...unnamed } = request ?? { id: '', op: 'sync', phase: 'running', attempt: 1 };
    const behind = aGitBinding({}, { ...rest, request: unnamed as never });
    world.bindings.replaceAll([{ ...behind, metadata: { ...behind.metadata, resourceVersion: '50' } }], '50');
    world.pods.replaceAll([], '7');
    world.world.refusal = full;
    world.world.stored = world.made[0];
    await world.look();
    expect(world.status()?.request?.pod).toBe(world.made[0]?.metadata.name);
  });

  /** A binding whose pod was made, and whose status could not be written with the name of it. */
  const unnamed = async () => {
    const world = setUp();
    await world.look();
    const { request, ...rest } = world.status() ?? {};
    const { pod: _pod, ...begun } = request ?? { id: '', op: 'sync', phase: 'running', attempt: 1 };
    const behind = aGitBinding({}, { ...rest, request: begun as never });
    world.bindings.replaceAll([{ ...behind, metadata: { ...behind.metadata, resourceVersion: '50' } }], '50');
    return world;
  };

  it('finds a pod that was made before without a place in the line that another binding has opened', async () => {
    const world = await unnamed();
    const wish = { namespace: 'tenant-acme', resource: 'pods', key: 'tenant-acme/other' };
    await world.quota.create(wish, () => Promise.reject(full)).catch(() => undefined);
    await world.look();
    expect(world.status()?.request).toMatchObject({ phase: 'running', pod: world.made[0]?.metadata.name });
    expect(world.status()?.request?.message).toBeUndefined();
    expect(world.made).toHaveLength(1);
  });

  it('removes a pod that it never named, where its operation ends', async () => {
    const world = await unnamed();
    world.pods.replaceAll([], '7');
    world.world.refusal = full;
    await world.clock.advance(gitLimits.quotaMs);
    world.world.onRefused = () => void world.pods.replaceAll(world.made, '8');
    await world.look();
    expect(world.status()?.request).toMatchObject({ phase: 'failed', error: 'QuotaExceeded' });
    expect(world.deleted).toEqual([world.made[0]?.metadata.name]);
  });

  it('waits for room for its volume, and says so', async () => {
    const world = setUp({ volume: undefined });
    world.world.refusal = full;
    await world.look();
    expect(world.status()).toMatchObject({ phase: 'pending', conditions: [{ reason: 'QuotaExceeded' }] });
    world.world.refusal = undefined;
    await world.clock.advance(2_000);
    await world.look();
    expect(world.status()).toMatchObject({ conditions: [{ reason: 'VolumesPending' }] });
  });

  it('fails where its pod never starts', async () => {
    const world = setUp();
    await world.look();
    world.pods.replaceAll(world.made, '7');
    [world.world.stored] = world.made;
    await world.clock.advance(gitLimits.queueMs - 1);
    await world.look();
    expect(world.status()?.request?.phase).toBe('running');
    await world.clock.advance(1);
    await world.look();
    expect(world.status()?.request).toMatchObject({ phase: 'failed', error: 'NeverStarted' });
  });

  it('D8 AMB-190 does not fail where its pod seems to wait and runs', async () => {
    const world = setUp();
    await world.look();
    world.pods.replaceAll(world.made, '7');
    world.world.stored = running(world.made[0] as Pod);
    await world.clock.advance(gitLimits.queueMs);
    await world.look();
    expect(world.status()?.request?.phase).toBe('running');
    world.world.outcome = good();
    await world.look();
    expect(world.status()?.request?.phase).toBe('succeeded');
  });

  it('D8 makes no other pod where the node of its pod has answered since', async () => {
    const world = setUp();
    await world.look();
    const pod = world.made[0] as Pod;
    const deletionTimestamp = new Date(world.clock.now()).toISOString();
    const silent = { ...pod, metadata: { ...pod.metadata, deletionTimestamp }, spec: { ...pod.spec, nodeName: 'n' } };
    world.pods.replaceAll([silent], '7');
    world.world.stored = running(pod);
    world.world.outcome = good();
    await world.clock.advance(16_000);
    await world.look();
    expect(world.status()?.request).toMatchObject({ phase: 'succeeded', attempt: 1 });
  });

  const foreign = { ...aGitVolume(), metadata: { ...aGitVolume().metadata, ownerReferences: [] } };
  const lost = (phase: 'failed' | 'expired') => ({ ...aGitVolume(), status: { phase } });

  it.each([
    ['another owner has', foreign],
    ['has failed', lost('failed')],
    ['has expired', lost('expired')],
  ])('D8 does not fail a request for a volume that seems as if it %s, and is there', async (_title, volume) => {
    const request = { id: 'r1', op: 'status' as const };
    const world = setUp({ volume, serverVolume: aGitVolume(), spec: { request } });
    await world.look();
    expect(world.status()?.request).toMatchObject({ id: 'r1', phase: 'running' });
    const sure = setUp({ volume, serverVolume: volume, spec: { request } });
    await sure.look();
    expect(sure.status()?.answered).toMatchObject({ id: 'r1', phase: 'failed' });
  });

  it('answers what is asked for where nothing can be done', async () => {
    const world = setUp({ hasImage: false, spec: { request: { id: 'r1', op: 'status' } } });
    await world.look();
    expect(world.status()).toMatchObject({
      phase: 'failed',
      answered: { id: 'r1', phase: 'failed' },
      request: { id: 'r1', phase: 'failed', error: 'GitUnavailable' },
      conditions: [{ reason: 'GitUnavailable' }],
    });
  });

  it('keeps its tree when a later operation fails, and what status found', async () => {
    const world = setUp();
    await world.look();
    world.start();
    world.world.outcome = good();
    await world.look();
    const known = world.status() as GitBindingStatus;
    const asked = setUp({ spec: { request: { id: 'r1', op: 'push' } }, status: known });
    await asked.look();
    asked.start();
    asked.world.outcome = bad;
    await asked.look();
    expect(asked.status()).toMatchObject({
      phase: 'ready',
      commit,
      answered: { id: 'r1', error: 'NOT_FOUND' },
    });
    const looked = setUp({ spec: { request: { id: 'r2', op: 'status' } }, status: known });
    await looked.look();
    looked.start();
    looked.world.outcome = good(',"changes":[]');
    await looked.look();
    expect(looked.status()?.answered).toMatchObject({ phase: 'succeeded', output: '{"changes":[]}' });
    expect(looked.notes).toEqual([]);
  });
});

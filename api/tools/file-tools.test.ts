import { beforeEach, describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { checkDefinition } from '../../lib/definition/check.ts';
import { AppError } from '../../lib/errors.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import {
  agentUid,
  createServiceToolsWorld,
  type OperationCall,
  type ServiceToolsWorld,
} from '../../test/support/service-tools.ts';
import type { ServiceToolsDeps } from './service-tools.ts';

/** A caller that mounts no volume, with the paths that its SecurityContext lists. */
const granted = (...path_allowlist: string[]) => aToolCaller({ security: { path_allowlist } });
const volumeId = '11111111-0000-4000-8000-000000000001';
let world: ServiceToolsWorld;
let made: Workflow[];
/** Output and end of the helper pod. */
let stdout: string;
let execution: Record<string, unknown>;
let volume: Record<string, unknown>;

const answers: Readonly<Record<string, (call: OperationCall) => unknown>> = {
  readVolume: () => volume,
  startExecution: () => ({ execution_id: 'helper-1' }),
  readExecution: () => execution,
  readExecutionLogs: () => ({ text: stdout, truncated: false }),
  cancelExecution: () => ({ status: 'cancelling' }),
  listVolumes: () => ({
    volumes: [
      { volume_id: 'v-other', name: 'other', execution_id: 'x', declared_name: 'workspace' },
      { volume_id: 'v-work', name: 'work', execution_id: agentUid, declared_name: 'workspace' },
      { volume_id: 'v-cache', name: 'cache', execution_id: agentUid, declared_name: 'cache' },
    ],
  }),
};

beforeEach(() => {
  made = [];
  volume = { volume_id: volumeId, name: 'data', phase: 'ready' };
  stdout = '{"ok":true,"content":"hello"}\n';
  execution = { status: 'completed', blackboard: { run: { exit_code: 0 } } };
  const kube = {
    create: async (_: unknown, object: Workflow) => {
      if (made.some(({ metadata }) => metadata.name === object.metadata.name))
        throw new KubeError(409, { reason: 'AlreadyExists' }, { verb: 'create', resource: 'workflows' });
      made.push({ ...object, metadata: { ...object.metadata, uid: `w-${made.length + 1}` } });
      return made.at(-1);
    },
    get: async (_: unknown, { name }: { name: string }) => made.find(({ metadata }) => metadata.name === name),
  } as unknown as ServiceToolsDeps['kube'];
  world = createServiceToolsWorld({ kube });
  world.give = (call) => answers[call.operationId]?.(call);
  world.caller = granted('volume:*/**');
});

const started = () => world.calls.filter(({ operationId }) => operationId === 'startExecution');
/** The request of the n-th helper, as the runner reads it. */
const requestOf = (index: number): unknown => {
  const { body } = started()[index] ?? {};
  const { input = {} } = (body ?? {}) as { input?: Record<string, string> };
  return JSON.parse([0, 1, 2, 3, 4, 5].map((part) => input[`part_${part}`]).join(''));
};
const at = { volume_id: volumeId, path: 'a/b.txt' };
const place = { path: '/files/a/b.txt', boundaries: [{ path: '/files/**', write: true }], deny: [] };

describe('files of a volume', () => {
  it.each<[string, string, object, object]>([
    ['TOOL-073', 'svc.file.read', at, { op: 'read' }],
    ['TOOL-072', 'svc.file.list', at, { op: 'list' }],
    ['TOOL-017', 'svc.file.write', { ...at, content: 'x{{y}}' }, { op: 'write', content: 'x{{y}}' }],
    ['TOOL-019', 'svc.file.mkdir', at, { op: 'create_dir' }],
    ['TOOL-018', 'svc.file.delete', { ...at, recursive: true }, { op: 'delete', recursive: true }],
  ])('%s %s is one request in a helper pod that mounts it', async (_id, tool, args, want) => {
    const answer = await world.run(tool, args as Record<string, unknown>);
    expect(answer).toEqual({ isError: false, content: 'hello' });
    expect(requestOf(0)).toEqual({ ...want, ...place });
    expect(started()).toMatchObject([{ body: { workflow: 'w-1', ttl_seconds_after_finished: 60 } }]);
    const [workflow] = made;
    expect(workflow?.metadata).toMatchObject({
      namespace: 'tenant-acme',
      ownerReferences: [{ kind: 'Volume', uid: volumeId, name: 'data' }],
    });
    expect(workflow?.spec.storage?.shared_volumes).toMatchObject([{ volume_id: volumeId }]);
    const errors = checkDefinition(workflow?.spec as Workflow['spec']).filter(({ severity }) => severity === 'error');
    expect(errors).toEqual([]);
  });

  it('uses the workflow that is there', async () => {
    await world.run('svc.file.read', at);
    expect((await world.run('svc.file.read', at)).isError).toBe(false);
    expect(made).toHaveLength(1);
    expect(started()).toHaveLength(2);
  });

  it.each<[string, object, object]>([
    ['environment', { env: { LD_PRELOAD: '/files/x.so' } }, {}],
    ['resources', { resources: { timeout: '30s', memory: '1Mi' } }, {}],
    ['timeout', { timeout: '1s' }, {}],
    ['next state', { transitions: [{ condition: 'always', target: 'leak' }] }, {}],
    ['user of the image', { registry_credentials: 'mine' }, {}],
    ['shell', { shell: true }, {}],
    ['version', {}, { version: '1.0.1' }],
    ['template of the output', {}, { output_template: { all: '{{input}}' } }],
  ])('runs no workflow of its name with another %s', async (_field, ofState, ofSpec) => {
    await world.run('svc.file.read', at);
    const [known] = made as [Workflow];
    const run = { ...known.spec.states['run'], ...ofState } as Workflow['spec']['states'][string];
    made = [{ ...known, spec: { ...known.spec, ...ofSpec, states: { run } } }];
    expect((await world.run('svc.file.read', at)).content).toMatch(/^CONFLICT: a workflow named volume-files-/);
    expect(started()).toHaveLength(1);
  });

  it.each(['../../etc/passwd', '/../etc/passwd', 'a/../../etc/passwd'])(
    'TOOL-FS-01 %s stays below the root',
    async (path) => {
      await world.run('svc.file.read', { volume_id: volumeId, path });
      expect(requestOf(0)).toMatchObject({ path: '/files/etc/passwd' });
    },
  );

  it('TOOL-073 answers what the runner refuses by its name', async () => {
    stdout = '{"ok":false,"error":"NOT_FOUND","message":"no file a"}';
    expect(await world.run('svc.file.read', at)).toEqual({ isError: true, content: 'NOT_FOUND: no file a' });
  });

  it('AMB-194 AMB-188 a volume of another tenant does not exist', async () => {
    world.give = () => {
      throw new HttpError({ code: 'not_found', error: 'Volume not found' });
    };
    expect((await world.run('svc.file.read', at)).content).toBe('NOT_FOUND: Volume not found');
    expect(made).toEqual([]);
  });

  it.each(['expired', 'failed'])('one that has %s is not mounted', async (phase) => {
    volume = { ...volume, phase, message: 'it is gone' };
    expect((await world.run('svc.file.read', at)).content).toBe('CONFLICT: the volume cannot be used: it is gone');
  });

  it.each([
    [6 * 32_768 - 200, false],
    [6 * 32_768, true],
  ])('TOOL-017 of %i characters is too large: %s', async (length, isTooLarge) => {
    const { content } = await world.run('svc.file.write', { ...at, content: 'x'.repeat(length) });
    expect(content.startsWith('TOO_LARGE')).toBe(isTooLarge);
    expect(started()).toHaveLength(isTooLarge ? 0 : 1);
  });

  it('AMB-199 each call is a StorageEvent without the content', async () => {
    await world.run('svc.file.write', { ...at, content: 'secret-text' });
    stdout = '{"ok":false,"error":"NOT_FOUND","message":"no"}';
    await world.run('svc.file.read', at);
    expect(world.raised.map(({ type, data }) => [type, data])).toMatchObject([
      ['StorageEvent', { operation: 'write', volume: 'data', path: '/a/b.txt', outcome: 'ok', tool: 'svc.file.write' }],
      ['StorageEvent', { operation: 'read', outcome: 'error' }],
    ]);
    expect(JSON.stringify(world.raised)).not.toContain('secret-text');
  });

  it('AMB-199 attempts of one call are one event, and calls that differ are not', async () => {
    const asCall = async (parts: object): Promise<string> => {
      world.caller = { ...granted('volume:*/**'), ...parts };
      await world.run('svc.file.read', at);
      return world.raised.at(-1)?.id ?? '';
    };
    const first = await asCall({ callKey: 'call_1_0' });
    expect(first).toBe('e-1-storage-call_1_0');
    expect(await asCall({ callKey: 'call_1_0' })).toBe(first);
    expect(await asCall({ callKey: 'call_1_1' })).not.toBe(first);
    expect(await asCall({ callId: 'uid-of-a-tool-call' })).toBe('e-1-storage-uid-of-a-tool-call');
    expect(await asCall({})).toBe('e-1-storage-id');
  });

  it.each([
    { reason: 'Stopped', tool: 'svc.file.read', outcomes: [] },
    { reason: 'Stopped', tool: 'svc.file.write', outcomes: [] },
    { reason: 'ReplicaStops', tool: 'svc.file.read', outcomes: [] },
    { reason: 'ReplicaStops', tool: 'svc.file.write', outcomes: ['error'] },
    { reason: 'CallTimeout', tool: 'svc.file.read', outcomes: ['error'] },
  ])(
    'AMB-199 a call of $tool that ends with $reason has an event unless it is made again: $outcomes',
    async ({ reason, tool, outcomes }) => {
      execution = { status: 'running' };
      const leaving = new AbortController();
      const left = world.run(tool, { ...at, content: 'x' }, leaving.signal).catch(() => 'left');
      await world.clock.advance(250);
      leaving.abort(new AppError('cancelled', 'not here', { reason }));
      await world.clock.advance(250);
      await left;
      expect(world.raised.map(({ data }) => data)).toMatchObject(outcomes.map((outcome) => ({ outcome })));
      expect(world.raised).toHaveLength(outcomes.length);
    },
  );

  it.each<[string, () => unknown, string]>([
    ['is not there', () => Promise.reject(new HttpError({ code: 'not_found', error: 'Volume not found' })), 'nothing'],
    ['has expired', () => ({ ...volume, phase: 'expired' }), volumeId],
    ['has a long name', () => Promise.reject(new HttpError({ code: 'not_found', error: 'no' })), 'n'.repeat(254)],
  ])(
    'WF-STOR-14 AMB-199 a call for a volume that %s is an event of the volume that was asked for',
    async (_what, give, volume_id) => {
      world.give = give;
      expect((await world.run('svc.file.write', { volume_id, path: 'a', content: 'x' })).isError).toBe(true);
      expect(world.raised.map(({ data }) => data)).toMatchObject([
        { operation: 'write', tool: 'svc.file.write', volume: volume_id.slice(0, 253), path: '/a', outcome: 'error' },
      ]);
    },
  );

  it('a helper that never ran says why', async () => {
    execution = { status: 'failed', message: 'exceeded quota: pods', blackboard: {} };
    expect((await world.run('svc.file.read', at)).content).toBe(
      'CONFLICT: the helper pod failed: exceeded quota: pods',
    );
  });

  it('a helper that does not end is cancelled, and a call that is given up cancels it', async () => {
    execution = { status: 'running' };
    const answered = world.run('svc.file.read', at);
    for (let times = 0; times < 720; times += 1) await world.clock.advance(250);
    expect((await answered).content).toMatch(/^LIMIT_EXCEEDED: no helper pod came to its end/);
    const leaving = new AbortController();
    const left = world.run('svc.file.read', at, leaving.signal);
    await world.clock.advance(1);
    leaving.abort();
    await expect(left).rejects.toThrow(/abort/);
    expect(world.calls.filter(({ operationId }) => operationId === 'cancelExecution')).toHaveLength(2);
  });

  it('AMB-199 a helper that outlives its call continues; the answer names the tools that look at the files', async () => {
    execution = { status: 'running' };
    const time = new AbortController();
    const late = world.run('svc.file.write', { ...at, content: 'x' }, time.signal);
    await world.clock.advance(1);
    time.abort(new DOMException('the time is up', 'TimeoutError'));
    const { content, isError } = await late;
    expect(isError).toBe(true);
    expect(content).toMatch(/^StillRunning: the helper pod continues: .*svc\.file\.list and svc\.file\.read /);
    expect(
      new Set(
        world.calls.filter(({ operationId }) => /Execution/.test(operationId)).map(({ seesHelpers }) => seesHelpers),
      ),
    ).toEqual(new Set([true]));
    expect(world.calls.map(({ operationId }) => operationId)).not.toContain('cancelExecution');
    expect(world.raised.map(({ data }) => data)).toMatchObject([{ tool: 'svc.file.write', outcome: 'error' }]);
  });

  it('are not offered where no image is configured', () => {
    expect(createServiceToolsWorld({ helperImage: undefined }).tools).not.toHaveProperty(['svc.file.read']);
  });
});

describe('WF-STOR-13 AGENT-17 TOOL-FS-01 the filesystem policy of the agent', () => {
  type Parts = NonNullable<Parameters<typeof aToolCaller>[0]>;
  const mounts = [
    { path: '/workspace', writable: true },
    { path: '/docs', writable: false, volume: 'data' },
    { path: '/other', writable: true, volume: 'other' },
  ];
  const filesystem = (read?: string[], write?: string[]): Parts => ({
    spec: { security: { filesystem: { read, write } } },
  });
  const read = { ...at, path: 'in/a.txt' };

  it.each<[string, Parts, string, string | undefined]>([
    ['a volume that the agent mounts is read where it is mounted', { mounts }, 'svc.file.read', '/docs'],
    ['it is read only where the mount is', { mounts }, 'svc.file.write', undefined],
    ['it is bounded by the manifest', { mounts, ...filesystem(['/docs/out']) }, 'svc.file.read', undefined],
    ['it is open where the manifest is', { mounts, ...filesystem(['/docs/in']) }, 'svc.file.read', '/docs'],
    [
      'it is bounded by path_allowlist',
      { mounts, security: { path_allowlist: ['/workspace', 'volume:data/**'] } },
      'svc.file.read',
      undefined,
    ],
    ['it obeys deny_list', { mounts, security: { deny_list: ['/docs/in'] } }, 'svc.file.read', undefined],
    ['a glob of deny_list counts', { mounts, security: { deny_list: ['/**/*.txt'] } }, 'svc.file.read', undefined],
    [
      'deny_list by the volume counts',
      { mounts, security: { deny_list: ['volume:data/in'] } },
      'svc.file.read',
      undefined,
    ],
    ['a volume that is not mounted needs a grant', {}, 'svc.file.read', undefined],
    ['paths of the container are none', { security: { path_allowlist: ['/**', '/in'] } }, 'svc.file.read', undefined],
    ['the manifest grants it', filesystem(['volume:data/in']), 'svc.file.read', '/files'],
    ['it grants what it names only', filesystem(['volume:data/out', 'volume:dat/**']), 'svc.file.read', undefined],
    ['reading is no writing', filesystem(['volume:data/**']), 'svc.file.write', undefined],
    ['a grant to write writes', filesystem([], ['volume:da*/**']), 'svc.file.write', '/files'],
    [
      'both have to grant it',
      { ...filesystem(['volume:data/**']), security: { path_allowlist: ['/workspace'] } },
      'svc.file.read',
      undefined,
    ],
    [
      'deny_list wins over a grant',
      { security: { path_allowlist: ['volume:data/**'], deny_list: ['volume:*/in/**'] } },
      'svc.file.read',
      undefined,
    ],
    ['a caller without an agent needs it as well', { spec: null, mounts: [] }, 'svc.file.read', undefined],
  ])('%s', async (_what, parts, tool, folder) => {
    world.caller = aToolCaller(parts);
    const { content } = await world.run(tool, tool === 'svc.file.write' ? { ...read, content: 'x' } : read);
    const isDenied = folder === undefined;
    expect(content).toMatch(isDenied ? /^PERMISSION_DENIED: \/in\/a.txt of the volume data is outside / : /^hello$/);
    const mounted = made.map(({ spec }) => spec.states['run']);
    expect(mounted).toMatchObject(isDenied ? [] : [{ volumes: [{ mount_path: folder }] }]);
    expect(started().map((_, index) => requestOf(index))).toMatchObject(
      isDenied ? [] : [{ path: `${folder}/in/a.txt` }],
    );
    const outcome = isDenied ? 'denied' : 'ok';
    expect(world.raised).toMatchObject([{ type: 'StorageEvent', data: { outcome, path: '/in/a.txt' } }]);
  });

  it('the runner gets the rules of the mount, for links', async () => {
    world.caller = aToolCaller({
      mounts,
      ...filesystem(['/docs/in']),
      security: { deny_list: ['/docs/in/secret*', 'svc.git.*'] },
    });
    await world.run('svc.file.read', read);
    const boundaries = [{ path: '/docs/in', write: false }];
    expect(requestOf(0)).toMatchObject({ boundaries, deny: ['/docs/in/secret*'] });
  });

  it.each(['PERMISSION_DENIED', 'PathOutsideBoundary'])(
    'AMB-199 what the runner refuses as %s is denied',
    async (error) => {
      stdout = JSON.stringify({ ok: false, error, message: 'no' });
      await world.run('svc.file.read', at);
      expect(world.raised).toMatchObject([{ data: { outcome: 'denied' } }]);
    },
  );

  it('svc.execution.file obeys it', async () => {
    world.caller = granted('volume:cache/**');
    const ask = (path: string) => world.run('svc.execution.file', { execution_id: agentUid, path });
    expect((await ask('/cache/a')).isError).toBe(false);
    expect((await ask('/workspace/a')).content).toMatch(/^PERMISSION_DENIED: \/a of the volume work /);
  });
});

describe('TOOL-RULE-11 a file of an execution', () => {
  const read = (path: string) => world.run('svc.execution.file', { execution_id: agentUid, path });
  it.each([
    ['report.txt', 'w-1', 'work', '/files/report.txt'],
    ['/workspace/report.txt', 'w-1', 'work', '/files/report.txt'],
    ['/cache/a', 'w-1', 'cache', '/files/a'],
  ])('TOOL-064 %s is text inline', async (path, _workflow, name, want) => {
    expect(JSON.parse((await read(path)).content)).toEqual({ path, content: 'hello' });
    expect(requestOf(0)).toMatchObject({ op: 'read', path: want });
    expect(made[0]?.metadata.ownerReferences).toMatchObject([{ name }]);
  });

  it('TOOL-064 that is binary has a URL of its bytes', async () => {
    stdout = '{"ok":false,"error":"NOT_TEXT","message":"is no text"}';
    expect(JSON.parse((await read('a b.png')).content)).toEqual({
      path: '/a b.png',
      download_url: 'https://windlass.example/v1/workflows/executions/helper-1/logs?stream=stdout',
      expires_in_seconds: 3_600,
    });
    expect(started()[1]).toMatchObject({ body: { ttl_seconds_after_finished: 3_600 } });
    expect(requestOf(1)).toMatchObject({ op: 'bytes', path: '/files/a b.png' });
    expect(requestOf(1)).toEqual({ ...(requestOf(0) as object), op: 'bytes' });
    expect(made[1]?.spec.states['run']).toMatchObject({ volumes: [{ read_only: true }] });
  });

  it('TOOL-064 of which a download would hold the beginning only is an error', async () => {
    stdout = '{"ok":false,"error":"TOO_LARGE","message":"is too long"}';
    execution = { status: 'completed', blackboard: { run: { exit_code: 0, stdout_truncated: true } } };
    const answer = await read('big.bin');
    expect(answer.isError).toBe(true);
    expect(answer.content).toMatch(/^TOO_LARGE: a download has 1 MiB at most/);
  });

  it('TOOL-064 of which no helper gave more than the bytes that a tool reads has its URL', async () => {
    stdout = '{"ok":false,"error":"TOO_LARGE","message":"is too long"}';
    execution = { status: 'completed', blackboard: { run: { exit_code: 0, stdout_truncated: false } } };
    expect(JSON.parse((await read('big.bin')).content)).toHaveProperty('download_url');
  });

  it('TOOL-064 is found on a later page of volumes', async () => {
    const listed = answers['listVolumes'];
    world.give = (call) => {
      if (call.operationId !== 'listVolumes') return answers[call.operationId]?.(call);
      return call.query?.['cursor'] === 'more' ? listed?.(call) : { volumes: [], next_cursor: 'more' };
    };
    expect((await read('report.txt')).isError).toBe(false);
  });

  it('TOOL-064 that is not there is an error', async () => {
    stdout = '{"ok":false,"error":"NOT_FOUND","message":"no"}';
    expect((await read('x')).content).toBe('NOT_FOUND: no');
    const other = await world.run('svc.execution.file', { execution_id: volumeId, path: 'x' });
    expect(other.content).toMatch(/^INVALID_ARGUMENT: the execution has no volume/);
  });
});

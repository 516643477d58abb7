import { beforeEach, describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { checkDefinition } from '../../lib/definition/check.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { KubeError } from '../../lib/kube/index.ts';
import {
  agentUid,
  createServiceToolsWorld,
  type OperationCall,
  type ServiceToolsWorld,
} from '../../test/support/service-tools.ts';
import type { ServiceToolsDeps } from './service-tools.ts';

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
});

const started = () => world.calls.filter(({ operationId }) => operationId === 'startExecution');
/** The request of the n-th helper, as the runner reads it. */
const requestOf = (index: number): unknown => {
  const { body } = started()[index] ?? {};
  const { input = {} } = (body ?? {}) as { input?: Record<string, string> };
  return JSON.parse([0, 1, 2, 3, 4, 5].map((part) => input[`part_${part}`]).join(''));
};
const at = { volume_id: volumeId, path: 'a/b.txt' };
const place = { path: '/files/a/b.txt', boundaries: [{ path: '/files', write: true }], deny: [] };

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

  it('uses the workflow that is there, and only where it is the same', async () => {
    await world.run('svc.file.read', at);
    expect((await world.run('svc.file.read', at)).isError).toBe(false);
    expect(made).toHaveLength(1);
    const [known] = made;
    made = [{ ...(known as Workflow), spec: { ...(known as Workflow).spec, states: {} } }];
    expect((await world.run('svc.file.read', at)).content).toMatch(/^CONFLICT: a workflow named volume-files-/);
    expect(started()).toHaveLength(2);
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

  it('are not offered where no image is configured', () => {
    expect(createServiceToolsWorld({ helperImage: undefined }).tools).not.toHaveProperty(['svc.file.read']);
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
    expect(started()[1]).toMatchObject({
      body: { input: { path: '/files/a b.png' }, ttl_seconds_after_finished: 3_600 },
    });
    const state = made[1]?.spec.states['run'];
    expect(state).toMatchObject({ command: ['cat', '--', '{{input.path}}'], volumes: [{ read_only: true }] });
  });

  it('TOOL-064 that is not there is an error', async () => {
    stdout = '{"ok":false,"error":"NOT_FOUND","message":"no"}';
    expect((await read('x')).content).toBe('NOT_FOUND: no');
    const other = await world.run('svc.execution.file', { execution_id: volumeId, path: 'x' });
    expect(other.content).toMatch(/^INVALID_ARGUMENT: the execution has no volume/);
  });
});

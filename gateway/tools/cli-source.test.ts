import { describe, expect, it } from 'vitest';
import type { CliTool } from '../../crds/schema/cli-tool.ts';
import type { Json } from '../../crds/schema/parts.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { BlobRef } from '../../crds/schema/workflow-execution-status.ts';
import { partlyKept } from '../../lib/api-spec/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { serverStops } from '../../lib/http/server-stops.ts';
import type { InformerChange } from '../../lib/informer/index.ts';
import { KubeError, type KubeObject, type Resource } from '../../lib/kube/index.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { cliAnswer } from './cli-answer.ts';
import { createCliRuns } from './cli-runs.ts';
import { createCliSource } from './cli-source.ts';
import type { GatewayCaller } from './tool-source.ts';

const uid = '22222222-2222-4222-8222-222222222222';
const caller: GatewayCaller = {
  tenant: 'acme',
  subject: 'agent-1',
  executionId: 'e-1',
  security: {},
  scopes: [],
  registered: false,
  namespace: 'tenant-acme',
};

const aTool = (more: object = {}): CliTool =>
  ({
    apiVersion: 'windlass.dev/v1',
    kind: 'CliTool',
    metadata: { name: 'count', namespace: 'tenant-acme', uid, generation: 1 },
    spec: {
      name: 'text.count',
      description: 'Counts.',
      input_schema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
      image: 'busybox',
      command: ['wc', '{{input.text}}'],
    },
    ...more,
  }) as CliTool;

const reading = async ({ ref }: Pick<BlobRef, 'ref'>): Promise<Uint8Array> => Buffer.from(`blob ${ref}`);
const ended = (entry: Json, refs?: BlobRef[]): WorkflowExecution => {
  const { status, ...rest } = anExecution('cli-1').past({ state: 'run' }, entry).ended('completed', 9).build();
  const stored = { value: entry, ...(refs && { refs }) };
  return { ...rest, status: { phase: 'completed', ...status, blackboard: { run: stored } } };
};

/** The API server, as far as a run needs it: what it was sent, and one execution that the watch brings to its end. */
interface Given {
  readonly refusal?: KubeError;
  /** The tool as the cache has it. */
  readonly tool?: CliTool;
  /** The tool in full, as the API server has it. Default: as the cache; null: it is gone. */
  readonly whole?: CliTool | null;
  /** Reads of the tool in full, one after another. Default: each gives `whole`. */
  readonly reads?: readonly CliTool[];
  /** How the API server refuses a cancellation. */
  readonly uncancelled?: Error;
  /** How the API server refuses to give the execution once it has ended. */
  readonly unread?: Error;
  /** Default: every output can be read. */
  readonly outputs?: () => Promise<Uint8Array>;
}

function open({ refusal, tool = aTool(), whole = tool, reads = [], uncancelled, unread, outputs }: Given = {}) {
  const toRead = [...reads];
  const sent: { verb: string; object: KubeObject }[] = [];
  const patches: object[] = [];
  const warned: unknown[] = [];
  const cache = { get: () => latest };
  const handlers: ((change: InformerChange<WorkflowExecution>) => void)[] = [];
  let latest: WorkflowExecution | undefined;
  const bring = (execution: WorkflowExecution | undefined): void => {
    const before = latest;
    latest = execution;
    const key = `tenant-acme/${execution?.metadata.name ?? 'cli-i-1'}`;
    for (const handler of handlers) handler({ key, before, after: execution } as InformerChange<WorkflowExecution>);
  };
  const write = (verb: string) => async (_kind: Resource<KubeObject>, object: KubeObject) => {
    sent.push({ verb, object });
    if (verb === 'create' && refusal !== undefined) throw refusal;
    if (verb === 'create') latest = { ...object, metadata: { ...object.metadata, uid: 'run-1' } } as WorkflowExecution;
    return verb === 'create' ? latest : object;
  };
  const source = createCliSource({
    clock: systemClock,
    logger: { warn: (fields) => void warned.push(fields) },
    kube: {
      apply: write('apply') as never,
      create: write('create') as never,
      get: (async () => {
        if (unread !== undefined && latest?.status?.phase === 'completed') throw unread;
        return latest;
      }) as never,
      mergePatch: (async (_kind: unknown, _ref: unknown, patch: object) => {
        patches.push(patch);
        if (uncancelled !== undefined) throw uncancelled;
      }) as never,
      whoAmI: async () => ({ username: 'gateway', groups: [] }),
    },
    outputs: () => outputs ?? reading,
    runs: createCliRuns({ cache, onChange: (handler) => void handlers.push(handler) }),
    tenancy: { visibleTo: (tenant) => (tenant === 'acme' ? ['tenant-acme', 'shared'] : ['shared']) },
    whole: async () => toRead.shift() ?? whole ?? undefined,
    objects: { byIndex: (_index, place) => (place === 'tenant-acme' ? [tool] : []) },
  });
  const call = (signal = new AbortController().signal, who = caller, args: Record<string, unknown> = { text: 'a b' }) =>
    source.find('acme', 'text.count')?.call(who, args, { signal, invocationId: 'i-1' }) ??
    Promise.reject(new Error('no tool'));
  const isCreated = () => expect.poll(() => sent.some(({ verb }) => verb === 'create')).toBe(true);
  const end = (execution: WorkflowExecution, name = 'cli-i-1'): void =>
    bring({ ...execution, metadata: { name, namespace: 'tenant-acme', uid: 'run-1' } });
  return { source, sent, patches, warned, call, isCreated, bring, end };
}

describe('a call of a CLI tool', () => {
  it('is an execution of a workflow with one state, in the tenant of the caller, of the version that was written', async () => {
    const world = open();
    const answer = world.call();
    await world.isCreated();
    world.end(ended({ exit_code: 0, stdout: '2', stderr: 'w' }));
    expect(await answer).toMatchObject({ isError: false, structured: { stdout: '2', stderr: 'w', exit_code: 0 } });
    const objects = world.sent.map(({ object }) => object as WorkflowExecution & { spec: { version?: string } });
    const [workflow, execution] = objects;
    expect(workflow).toMatchObject({
      metadata: { namespace: 'tenant-acme', labels: { 'windlass.dev/cli-tool': uid } },
    });
    expect(execution).toMatchObject({
      metadata: { name: 'cli-i-1', namespace: 'tenant-acme', labels: { 'windlass.dev/cli-tool': uid } },
      spec: { workflow: workflow?.metadata.name, input: { text: 'a b' } },
    });
    expect(execution?.spec.version).toBe(workflow?.spec.version);
  });

  it('starts the generation that it has judged, and judges the one that it starts', async () => {
    const ready = { type: 'Ready', status: 'False', reason: 'InvalidDefinition', message: 'no', observedGeneration: 2 };
    const refused = { observedGeneration: 2, conditions: [ready] };
    const other = { ...aTool().spec, command: ['rm', '{{input.text}}'] };
    const next = aTool({ metadata: { ...aTool().metadata, generation: 2 }, spec: other, status: refused });
    const world = open({ reads: [aTool()], whole: next });
    const answer = world.call();
    await world.isCreated();
    world.end(ended({ exit_code: 0, stdout: '', stderr: '' }));
    await answer;
    expect(JSON.stringify(world.sent)).toContain('"wc"');
    expect(JSON.stringify(world.sent)).not.toContain('"rm"');
    const late = open({ reads: [next], whole: aTool() });
    await expect(late.call()).rejects.toMatchObject({ reason: 'Validation' });
    expect(late.sent).toEqual([]);
  });

  it('runs the whole of a tool of which the cache has a part, and checks the arguments by its whole schema', async () => {
    const note = { type: 'string', description: 'x'.repeat(8_000) };
    const input_schema = { type: 'object', required: ['text'], properties: { text: { type: 'string' }, note } };
    const whole = aTool({ spec: { ...aTool().spec, input_schema, stdin: 'x'.repeat(60_000) } });
    const world = open({ tool: partlyKept.CliTool.slim(whole), whole });
    const listed = world.source.find('acme', 'text.count');
    expect(listed?.input_schema).not.toEqual(input_schema);
    expect(await listed?.readSchema?.()).toEqual(input_schema);
    await expect(world.call(undefined, caller, { text: 7 })).rejects.toThrow('text must be');
    expect(world.sent).toEqual([]);
    const answer = world.call();
    await world.isCreated();
    world.end(ended({ exit_code: 0, stdout: '2', stderr: '' }));
    await answer;
    const [workflow] = world.sent.map(({ object }) => object as Workflow);
    expect(workflow?.spec.states['run']).toMatchObject({
      command: expect.arrayContaining([whole.spec.stdin]) as string[],
    });
  });

  it('of a tool that is gone is refused, and runs nothing', async () => {
    const world = open({ whole: null });
    await expect(world.call()).rejects.toMatchObject({ code: 'not_found' });
    expect(world.sent).toEqual([]);
  });

  it('writes the workflow of a version once', async () => {
    const world = open();
    for (let times = 0; times < 2; times += 1) {
      const answer = world.call();
      await expect.poll(() => world.sent.filter(({ verb }) => verb === 'create').length).toBe(times + 1);
      world.end(ended({ exit_code: 0, stdout: '', stderr: '' }));
      await answer;
    }
    expect(world.sent.map(({ verb }) => verb)).toEqual(['apply', 'create', 'create']);
  });

  it('AMB-196 writes the workflow again that a colleague has deleted, and runs the call once more', async () => {
    const world = open();
    const failed = anExecution('cli-1').ended('failed', 9).build();
    const lost = { ...failed, status: { phase: 'failed', ...failed.status, reason: 'WorkflowNotFound' } } as const;
    const answer = world.call();
    await world.isCreated();
    world.end(lost);
    await expect.poll(() => world.sent.length).toBe(4);
    world.end(ended({ exit_code: 0, stdout: '2', stderr: '' }), 'cli-i-1-again');
    expect(await answer).toMatchObject({ isError: false, structured: { stdout: '2' } });
    expect(world.sent.map(({ verb }) => verb)).toEqual(['apply', 'create', 'apply', 'create']);
  });

  it('AMB-196 runs a call twice at most', async () => {
    const world = open();
    const failed = anExecution('cli-1').ended('failed', 9).build();
    const lost = { ...failed, status: { phase: 'failed', ...failed.status, reason: 'WorkflowNotFound' } } as const;
    const answer = world.call();
    await world.isCreated();
    world.end(lost);
    await expect.poll(() => world.sent.length).toBe(4);
    world.end(lost, 'cli-i-1-again');
    expect(await answer).toMatchObject({ isError: true });
    expect(world.sent).toHaveLength(4);
  });

  it('is cancelled when the call is over before its end', async () => {
    const world = open();
    const stop = new AbortController();
    const answer = world.call(stop.signal);
    await world.isCreated();
    stop.abort(new Error('over'));
    await expect(answer).rejects.toThrow('over');
    const reason = 'the caller of the tool has left';
    expect(world.patches).toMatchObject([{ spec: { cancel: { by: 'gateway', reason } } }]);
  });

  it('runs on where the gateway stops, and the answer names its execution', async () => {
    const world = open();
    const stop = new AbortController();
    const answer = world.call(stop.signal);
    await world.isCreated();
    stop.abort(serverStops());
    const content = 'OutcomeUnknown: execution cli-i-1 runs on; the gateway stopped';
    expect(await answer).toEqual({ content, isError: true });
    expect(world.patches).toEqual([]);
  });

  it.each([
    [new DOMException('the time is up', 'TimeoutError'), 'the time of the call of the tool is up'],
    [new AppError('cancelled', 'x', { reason: 'SessionRevoked' }), 'the session of the call of the tool was revoked'],
  ])('is cancelled for the reason that ends the call', async (cause, reason) => {
    const world = open();
    const stop = new AbortController();
    const answer = world.call(stop.signal);
    await world.isCreated();
    stop.abort(cause);
    await expect(answer).rejects.toBe(cause);
    expect(world.patches).toMatchObject([{ spec: { cancel: { reason } } }]);
  });

  it('ends with an error when its execution is deleted, or replaced by another one of the name', async () => {
    for (const after of [
      undefined,
      { ...ended({}), metadata: { name: 'cli-i-1', namespace: 'tenant-acme', uid: 'other' } },
    ]) {
      const world = open();
      const answer = world.call();
      await world.isCreated();
      world.bring(after);
      await expect(answer).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('cancels no other execution that has the name of its own by now', async () => {
    const world = open();
    const answer = world.call();
    await world.isCreated();
    world.bring({
      ...anExecution('cli-i-1').build(),
      metadata: { name: 'cli-i-1', namespace: 'tenant-acme', uid: 'other' },
    });
    await expect(answer).rejects.toMatchObject({ code: 'not_found' });
    expect(world.patches).toEqual([]);
  });

  const patched = { verb: 'patch', resource: 'workflowexecutions' };
  it.each([
    { title: 'is gone', status: 404, reason: 'NotFound', warnings: 0 },
    { title: 'a proxy looks for', status: 404, warnings: 1 },
    { title: 'has its name from another one', status: 409, warnings: 0 },
    {
      title: 'was cancelled by others',
      status: 422,
      message: 'spec: cancel cannot be changed or taken back',
      warnings: 0,
    },
    { title: 'an admission policy keeps', status: 422, message: 'denied the request: no', warnings: 1 },
    { title: 'the API server cannot change', status: 500, warnings: 1 },
  ])('ends as it would where the execution that it cancels $title', async ({ status, reason, message, warnings }) => {
    const world = open({ uncancelled: new KubeError(status, { reason, message }, patched) });
    const stop = new AbortController();
    const answer = world.call(stop.signal);
    await world.isCreated();
    stop.abort(new Error('over'));
    await expect(answer).rejects.toThrow('over');
    expect(world.patches).toMatchObject([{ metadata: { uid: 'run-1' } }]);
    expect(world.warned).toHaveLength(warnings);
  });

  const asked = { verb: 'create', resource: 'workflowexecutions' };
  it.each([
    ['a quota that is full', new KubeError(403, { message: 'exceeded quota: x' }, asked), 'limit_exceeded'],
    [
      'a quota that is not counted yet',
      new KubeError(403, { message: 'status unknown for quota: x' }, asked),
      'unavailable',
    ],
    ['an object that is too large', new KubeError(413, { message: 'request is too large' }, asked), 'invalid'],
    [
      'an object that breaks a rule',
      new KubeError(422, { reason: 'Invalid', message: 'spec.input' }, asked),
      'invalid',
    ],
  ])('is refused to its caller for %s', async (_title, refusal, code) => {
    await expect(open({ refusal }).call()).rejects.toMatchObject({ code });
  });

  const away = new KubeError(500, {}, asked);
  it('cancels what may have been created where the answer got lost, and says that the command may have run', async () => {
    const world = open({ refusal: away });
    world.bring(anExecution('cli-i-1').build());
    expect(await world.call()).toEqual({ isError: true, content: expect.stringMatching(mayHaveRun) });
    expect(world.patches).toHaveLength(1);
  });

  const mayHaveRun = /^OutcomeUnknown: execution cli-i-1 may have run/;
  it('that has begun is never an error after which its caller tries again', async () => {
    const world = open({ unread: away });
    const answer = world.call();
    await world.isCreated();
    world.end(ended({ exit_code: 0 }));
    expect(await answer).toEqual({ isError: true, content: expect.stringMatching(mayHaveRun) });
  });

  it('whose output cannot be read says that its execution has ended', async () => {
    const world = open({ outputs: () => Promise.reject(new AppError('unavailable', 'the store is away')) });
    const answer = world.call();
    await world.isCreated();
    const ref: BlobRef = { path: '/stdout', ref: 'a'.repeat(64), bytes: 9, encoding: 'text' };
    world.end(ended({ exit_code: 0, stdout: null }, [ref]));
    expect(await answer).toEqual({
      isError: true,
      content: expect.stringMatching(/^OutcomeUnknown: execution cli-i-1 has ended/),
    });
  });

  it('is an error where the API server refused its execution, for certain', async () => {
    const refusal = new KubeError(429, {}, asked);
    await expect(open({ refusal }).call()).rejects.toBe(refusal);
  });

  it('runs nothing for a tool that the controllers refuse, arguments that do not fit, and a caller without a tenant', async () => {
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'InvalidDefinition', message: 'x', observedGeneration: 1 },
    ];
    const refused = open({ tool: aTool({ status: { conditions } }) });
    await expect(refused.call()).rejects.toThrow('InvalidDefinition');
    const world = open();
    await expect(world.call(undefined, caller, { text: 1 })).rejects.toMatchObject({ refusal: { kind: 'arguments' } });
    const stranger = { ...caller, tenant: undefined, namespace: undefined };
    await expect(world.call(undefined, stranger)).rejects.toMatchObject({ reason: 'Validation' });
    await expect(world.call(undefined, { ...caller, namespace: undefined })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect([...refused.sent, ...world.sent]).toEqual([]);
  });

  it('is seen by its tenant alone', () => {
    const { source } = open();
    expect([source.find('other', 'text.count'), source.find(undefined, 'text.count')]).toEqual([undefined, undefined]);
    expect([...source.list('acme')]).toMatchObject([{ name: 'text.count', source: 'cli' }]);
  });
});

describe('the answer of a CLI tool', () => {
  it('has both streams and the exit code, and is an error for any code but 0', async () => {
    const answer = await cliAnswer(ended({ exit_code: 3, stdout: { a: 1 }, stderr: 'no' }), reading);
    expect(answer).toMatchObject({ isError: true, structured: { stdout: '{"a":1}', stderr: 'no', exit_code: 3 } });
    expect(JSON.parse(answer.content)).toEqual(answer.structured);
  });

  const part = (path: string, bytes: number): BlobRef => ({ path, ref: 'a'.repeat(64), bytes, encoding: 'text' });
  it('reads 1 MiB of large output and no byte more, stdout first, and then says that a stream is left out', async () => {
    const entry = { exit_code: 0, stdout: null, stderr: null, output: { stdout: null } };
    const limit = 1024 * 1024;
    const whole = [part('/stdout', limit - 6), part('/stderr', 6), part('/output/stdout', limit)];
    expect((await cliAnswer(ended(entry, whole), reading)).structured).toMatchObject({
      stdout: expect.stringMatching(/^blob a+$/),
    });
    const blob = expect.stringMatching(/^blob a+$/);
    const large = [part('/stderr', 7), part('/stdout', limit - 6)];
    const cut = (await cliAnswer(ended(entry, large), reading)).structured;
    expect(cut).toMatchObject({ stdout: blob, stderr: '', truncated: true });
    const larger = [part('/stdout', limit + 1), part('/stderr', 7)];
    const other = (await cliAnswer(ended(entry, larger), reading)).structured;
    expect(other).toMatchObject({ stdout: '', stderr: blob, truncated: true });
  });

  it('says why no command ran', async () => {
    const entry = { exit_code: -1, stdout: '', stderr: '', error: 'ImagePullFailed: no such image' };
    expect(await cliAnswer(ended(entry), reading)).toMatchObject({
      isError: true,
      content: expect.stringContaining('ImagePullFailed: no such image'),
    });
    const cancelled = anExecution('cli-1')
      .status({ reason: 'Cancelled', message: 'by x' })
      .ended('cancelled', 1)
      .build();
    expect((await cliAnswer(cancelled, reading)).content).toContain('Cancelled: by x (execution cli-1)');
  });
});

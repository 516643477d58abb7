import { beforeEach, describe, expect, it } from 'vitest';
import type { GitBinding, GitBindingStatus } from '../../crds/schema/git-binding.ts';
import { type JsonPatchOperation, KubeError } from '../../lib/kube/index.ts';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { createServiceToolsWorld, type ServiceToolsWorld } from '../../test/support/service-tools.ts';
import type { ServiceToolsDeps } from './service-tools.ts';

const commit = 'c'.repeat(40);
const volume = { name: 'git-site', uid: 'volume-uid' };
const ready: GitBindingStatus = { phase: 'ready', commit, branch: 'main', volume, tried_at: '2026-01-01T00:00:00Z' };

let world: ServiceToolsWorld;
let bindings: Map<string, GitBinding>;
let version: number;
/** The controllers' answer to a binding that was written; undefined: nothing. */
let controllers: (binding: GitBinding) => GitBindingStatus | undefined;

const uidOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const error = (status: number, reason: string) =>
  new KubeError(status, { reason } as never, { verb: 'patch', resource: 'gitbindings' });

function store(binding: GitBinding): GitBinding {
  version += 1;
  const stored = { ...binding, metadata: { ...binding.metadata, resourceVersion: String(version) } };
  const status = controllers(stored);
  const next = status === undefined ? stored : { ...stored, status };
  bindings.set(binding.metadata.name, next);
  return next;
}

const kube = {
  async create(_: unknown, binding: GitBinding) {
    if (bindings.has(binding.metadata.name)) throw error(409, 'AlreadyExists');
    return store({ ...binding, metadata: { ...binding.metadata, uid: uidOf(bindings.size + 1) } });
  },
  async get(_: unknown, { name }: { name: string }) {
    const found = bindings.get(name);
    if (found === undefined) throw error(404, 'NotFound');
    return found;
  },
  list: async () => ({ items: [...bindings.values()], metadata: {} }),
  async jsonPatch(_: unknown, { name }: { name: string }, patch: readonly JsonPatchOperation[]) {
    const found = bindings.get(name);
    if (found === undefined) throw error(404, 'NotFound');
    const [guard, add] = patch as readonly { value: unknown }[];
    if (guard?.value !== found.metadata.resourceVersion) throw error(409, 'Conflict');
    return store({ ...found, spec: { ...found.spec, request: add?.value as never } });
  },
  async delete(_: unknown, { name }: { name: string }) {
    if (!bindings.delete(name)) throw error(404, 'NotFound');
    return true;
  },
} as unknown as ServiceToolsDeps['kube'];

/** The controllers do at once what is asked for; `more` is what the operation found. */
const doing =
  (more: object = {}) =>
  ({ spec: { request } }: GitBinding): GitBindingStatus =>
    request === undefined
      ? ready
      : {
          ...ready,
          answered: { id: request.id, op: request.op, phase: 'succeeded', attempt: 1, ...more },
        };

beforeEach(() => {
  bindings = new Map();
  version = 0;
  controllers = doing();
  let ids = 0;
  world = createServiceToolsWorld({ kube, newId: () => `id${(ids += 1)}` });
  world.caller = aToolCaller({ security: { path_allowlist: ['volume:git-*/**'], git_secrets: ['forge'] } });
});

const url = 'https://git.example.org/site.git';
const clone = (args: object = {}) => world.run('svc.git.clone', { repo_url: url, label: 'site', ...args });
const bindingId = uidOf(1);
const on = { binding_id: bindingId };

describe('svc.git.clone', () => {
  it('TOOL-022 answers the binding with its volume, and its tree is there', async () => {
    const made = await clone({ ref: 'main', secret: 'forge' });
    expect(JSON.parse(made.content)).toMatchObject({
      binding_id: bindingId,
      name: 'site',
      repo_url: url,
      commit,
      volume_id: 'volume-uid',
      path: 'current',
    });
    expect(bindings.get('site')).toMatchObject({
      metadata: { namespace: 'tenant-acme' },
      spec: { repo_url: url, ref: 'main', credentials: { secret: { name: 'forge' } } },
    });
    expect(world.audited).toMatchObject([{ type: 'GitBindingCreated', subject: bindingId, data: { repo_url: url } }]);
  });

  it.each([
    ['forge', ['other', 'forge'], true],
    ['forge', ['other'], false],
    ['forge', ['forge-2', 'forg', '*'], false],
    ['forge', [], false],
    ['forge', undefined, false],
  ])(
    'TOOL-022 uses the Secret %s where git_secrets of the SecurityContext is %j: %s',
    async (secret, names, isUsed) => {
      world.caller = aToolCaller({ security: names === undefined ? {} : { git_secrets: names } });
      const { content } = await clone({ secret });
      const refused = content.startsWith(
        'PERMISSION_DENIED: secret: the SecurityContext of this call does not name forge in git_secrets',
      );
      expect([refused, bindings.size]).toEqual(isUsed ? [false, 1] : [true, 0]);
    },
  );

  it.each([
    ['push', ['forge'], 'lends it', true],
    ['push', ['other'], 'lends another one', false],
    ['push', undefined, 'lends none', false],
    ['refresh', undefined, 'lends none', true],
    ['commit', undefined, 'lends none', true],
  ])(
    'ADR 0137 svc.git.%s with the Secret of a binding, where git_secrets is %j and %s',
    async (op, names, _what, isDone) => {
      await clone({ secret: 'forge' });
      const security = { path_allowlist: ['volume:git-*/**'], ...(names === undefined ? {} : { git_secrets: names }) };
      world.caller = aToolCaller({ security });
      const { content, isError } = await world.run(`svc.git.${op}`, { ...on, message: 'Change' });
      const refusal =
        'PERMISSION_DENIED: the binding pushes with a Secret: the SecurityContext of this call does not name forge';
      expect([isError, content.startsWith(refusal), bindings.get('site')?.spec.request?.op]).toEqual(
        isDone ? [false, false, op === 'refresh' ? 'sync' : op] : [true, true, undefined],
      );
    },
  );

  it.each([
    'file:///etc/passwd',
    '/etc',
    'ext::sh -c x',
    '-oProxyCommand=x',
    'ssh://-oProxyCommand=x/r',
    'git@host:repo',
    'https://user:secret@host/r',
    `https://h/${'a'.repeat(2_048)}`,
  ])('TOOL-022 refuses %s', async (repo_url) => {
    expect((await clone({ repo_url })).content).toMatch(/^INVALID_ARGUMENT: repo_url /);
    expect(bindings.size).toBe(0);
  });

  it.each([['Site'], ['a'.repeat(60)], [bindingId]])('TOOL-022 refuses the label %s', async (label) => {
    expect((await clone({ label })).content).toMatch(/^INVALID_ARGUMENT: label/);
  });

  it.each([['--upload-pack=x'], ['a b'], ['a'.repeat(256)]])('TOOL-022 refuses the ref %s', async (ref) => {
    expect((await clone({ ref })).content).toMatch(/^INVALID_ARGUMENT: ref/);
  });

  it('TOOL-022 of a repository that cannot be cloned says why and leaves nothing', async () => {
    controllers = () => ({
      phase: 'failed',
      tried_at: '2026-01-01T00:00:00Z',
      request: {
        id: 'sync-1',
        op: 'sync',
        phase: 'failed',
        attempt: 1,
        error: 'AddressNotAllowed',
        message: 'no public address',
      },
    });
    expect(await clone()).toEqual({ isError: true, content: 'AddressNotAllowed: no public address' });
    expect(bindings.size).toBe(0);
  });

  it('TOOL-022 of a binding that nothing can be done for says why', async () => {
    controllers = () => ({
      phase: 'failed',
      conditions: [
        { type: 'Ready', status: 'False', reason: 'VolumeTaken', message: 'in the way', lastTransitionTime: '' },
      ],
    });
    expect((await clone()).content).toBe('VolumeTaken: in the way');
    expect(bindings.size).toBe(0);
  });

  it('TOOL-022 continues where the time of its call is up, and the answer names the binding', async () => {
    controllers = () => undefined;
    const signal = AbortSignal.abort(new DOMException('the time is up', 'TimeoutError'));
    const { content, isError } = await world.run('svc.git.clone', { repo_url: url, label: 'site' }, signal);
    expect(isError).toBe(true);
    expect(content).toMatch(
      /^StillRunning: the clone of the binding site, binding_id \S+, continues: .* svc.git.list /,
    );
    expect(content).toContain(bindingId);
    expect(bindings.has('site')).toBe(true);
  });

  it('TOOL-022 of a name that is taken is a conflict', async () => {
    await clone();
    expect((await clone()).content).toBe('CONFLICT: name: there is a binding site already; choose another name');
  });
});

describe('an operation', () => {
  beforeEach(() => clone());

  it.each([
    ['TOOL-023', 'svc.git.refresh', {}, { op: 'sync' }],
    ['TOOL-025', 'svc.git.commit', { message: 'Mend it' }, { op: 'commit', message: 'Mend it' }],
    ['TOOL-026', 'svc.git.push', {}, { op: 'push' }],
    ['TOOL-077', 'svc.git.status', {}, { op: 'status' }],
    ['TOOL-078', 'svc.git.diff', {}, { op: 'diff' }],
  ])('%s %s asks the controllers and answers as it ended', async (_id, tool, args, want) => {
    expect(await world.valueOf(tool, { ...on, ...args })).toMatchObject({
      binding_id: bindingId,
      commit,
      branch: 'main',
    });
    expect(bindings.get('site')?.spec.request).toMatchObject(want);
  });

  it('TOOL-077 TOOL-078 answers what was found', async () => {
    expect(await world.valueOf('svc.git.status', on)).toMatchObject({ changes: [] });
    expect(await world.valueOf('svc.git.diff', on)).toMatchObject({ diff: '' });
    controllers = doing({ output: '{"changes":[{"kind":"M","path":"a"}]}' });
    expect(await world.valueOf('svc.git.status', on)).toMatchObject({ changes: [{ kind: 'M', path: 'a' }] });
    controllers = doing({ output: '{"diff":"+x","truncated":true}' });
    expect(await world.valueOf('svc.git.diff', { binding_id: 'site' })).toMatchObject({ diff: '+x', truncated: true });
  });

  it.each(['refresh', 'commit', 'push', 'status', 'diff'])(
    'svc.git.%s that fails is an error by its name',
    async (name) => {
      controllers = doing({ phase: 'failed', error: 'PushRejected', message: 'not a fast-forward' });
      const answer = await world.run(`svc.git.${name}`, { ...on, message: 'x' });
      expect(answer).toEqual({ isError: true, content: 'PushRejected: not a fast-forward' });
    },
  );

  it.each(['refresh', 'commit', 'push', 'status', 'diff', 'delete'])(
    'AMB-194 svc.git.%s of a binding of another tenant, or of none, is NOT_FOUND',
    async (name) => {
      const answer = await world.run(`svc.git.${name}`, { binding_id: uidOf(9), message: 'x' });
      expect(answer).toEqual({
        isError: true,
        content: `NOT_FOUND: there is no binding "${uidOf(9)}"; svc.git.list names them`,
      });
    },
  );

  it.each([
    ['', false],
    [' ', false],
    ['x'.repeat(16_384), true],
    ['x'.repeat(16_385), false],
  ])('TOOL-025 a message of such a form is taken or not', async (message, isTaken) => {
    const { content } = await world.run('svc.git.commit', { ...on, message });
    expect(content.startsWith('INVALID_ARGUMENT: message')).toBe(!isTaken);
  });

  /** One look of every caller, and their writes. */
  const looks = async (times: number) => {
    for (let time = 0; time < times; time += 1) await world.clock.advance(250);
  };
  const answerAll = () => {
    controllers = doing();
    store(bindings.get('site') as GitBinding);
    controllers = () => bindings.get('site')?.status;
  };

  it('waits for the one before, and two at once come one after another', async () => {
    controllers = () => bindings.get('site')?.status;
    const both = [world.run('svc.git.refresh', on), world.run('svc.git.push', on)];
    await looks(4);
    const asked = bindings.get('site')?.spec.request;
    expect(asked).toBeDefined();
    await looks(4);
    expect(bindings.get('site')?.spec.request).toEqual(asked);
    answerAll();
    await looks(4);
    expect(bindings.get('site')?.spec.request).not.toEqual(asked);
    answerAll();
    await looks(4);
    expect((await Promise.all(both)).map(({ isError }) => isError)).toEqual([false, false]);
  });

  it('leaves the answer of a request that another replica made for that replica to read', async () => {
    const idle = bindings.get('site') as GitBinding;
    controllers = doing();
    store({ ...idle, spec: { ...idle.spec, request: { id: 'other', op: 'push' } } });
    const next = world.run('svc.git.status', on);
    await looks(3);
    expect(bindings.get('site')?.spec.request?.id).toBe('other');
    expect(bindings.get('site')?.status?.answered?.id).toBe('other');
    await looks(6);
    expect((await next).isError).toBe(false);
  });

  it('whose answer others have overwritten is unknown', async () => {
    controllers = () => bindings.get('site')?.status;
    const first = world.run('svc.git.push', on);
    await looks(1);
    const known = bindings.get('site') as GitBinding;
    controllers = doing();
    store({ ...known, spec: { ...known.spec, request: { id: 'other', op: 'sync' } } });
    await looks(2);
    expect((await first).content).toMatch(/^OutcomeUnknown: /);
  });

  it('AMB-199 is a StorageEvent, and what changes the history is in the audit', async () => {
    await world.run('svc.git.commit', { ...on, message: 'secret words' });
    await world.run('svc.git.push', on);
    expect(world.raised.map(({ data }) => data)).toMatchObject([
      { tool: 'svc.git.clone', operation: 'write', volume: 'git-site', path: '/current', outcome: 'ok' },
      { tool: 'svc.git.commit', operation: 'write' },
      { tool: 'svc.git.push', operation: 'read' },
    ]);
    expect(world.audited.map(({ type }) => type)).toEqual([
      'GitBindingCreated',
      'GitBindingCommitted',
      'GitBindingPushed',
    ]);
    expect(JSON.stringify([world.raised, world.audited])).not.toContain('secret words');
  });

  it.each(['refresh', 'commit', 'push', 'status', 'diff'])(
    'WF-STOR-13 svc.git.%s needs the volume in the policy of the caller, as svc.file does',
    async (name) => {
      world.caller = aToolCaller({ security: { path_allowlist: ['volume:git-other/**'] } });
      const { content } = await world.run(`svc.git.${name}`, { ...on, message: 'x' });
      expect(content).toMatch(/^PERMISSION_DENIED: the volume git-site is outside/);
      expect(bindings.get('site')?.spec.request).toBeUndefined();
    },
  );

  const granted = { path_allowlist: ['volume:git-*/**'] };
  const whole = ['commit', 'push', 'diff'];
  it.each<[string, Parameters<typeof aToolCaller>[0], boolean]>([
    ['no rule below', { security: granted }, false],
    [
      'a deny rule of a folder below',
      { security: { ...granted, deny_list: ['volume:git-site/current/private'] } },
      true,
    ],
    ['a deny glob of files below', { security: { ...granted, deny_list: ['volume:git-*/**/.env'] } }, true],
    ['a deny glob with a choice', { security: { ...granted, deny_list: ['volume:git-*/{a,current}/x'] } }, true],
    ['a deny glob one level down', { security: { ...granted, deny_list: ['volume:git-site/c*/*.key'] } }, true],
    ['a deny rule beside', { security: { ...granted, deny_list: ['volume:git-site/generations/**'] } }, false],
    ['a deny glob beside', { security: { ...granted, deny_list: ['volume:git-site/*.md', '/etc/**'] } }, false],
    ['a deny rule of another volume', { security: { ...granted, deny_list: ['volume:git-other/current/x'] } }, false],
    ['a boundary that ends at the folder', { security: { path_allowlist: ['volume:git-site/*'] } }, true],
    ['a boundary of any folder', { security: { path_allowlist: ['volume:git-site/c*/**'] } }, false],
    ['the folder alone', { security: { path_allowlist: ['volume:git-site/current'] } }, false],
    [
      'a deny rule in its own mount',
      {
        mounts: [{ path: '/workspace/site', writable: true, volume: 'git-site' }],
        security: { deny_list: ['/workspace/**/secret/**'] },
      },
      true,
    ],
  ])('WF-STOR-13 an operation on the whole tree with %s', async (_title, parts, isRefused) => {
    for (const name of whole) {
      world.caller = aToolCaller(parts);
      const { content } = await world.run(`svc.git.${name}`, { ...on, message: 'x' });
      expect([name, content.startsWith('PERMISSION_DENIED: ')]).toEqual([name, isRefused]);
    }
    expect(bindings.get('site')?.spec.request === undefined).toBe(isRefused);
  });

  it('continues where the time of its call is up; the answer names it, and svc.git.list shows how it ended', async () => {
    controllers = () => bindings.get('site')?.status;
    const time = new AbortController();
    const late = world.run('svc.git.push', on, time.signal);
    await looks(2);
    time.abort(new DOMException('the time is up', 'TimeoutError'));
    const { id } = bindings.get('site')?.spec.request ?? {};
    expect(await late).toEqual({
      isError: true,
      content: `StillRunning: the operation ${id} (push) of the binding site continues: it did not end in the time of this call; svc.git.list shows in operation of the binding how it ended`,
    });
    const shown = async () => ((await world.valueOf('svc.git.list')) as { bindings: object[] }).bindings;
    expect(await shown()).toMatchObject([{ operation: { id, op: 'push', phase: 'pending' } }]);
    expect(world.audited.at(-1)).toMatchObject({ type: 'GitBindingPushed', data: { outcome: 'unknown' } });
    answerAll();
    expect(await shown()).toMatchObject([{ operation: { id, op: 'push', phase: 'succeeded' } }]);
  });

  it('has not begun where the time of its call is up while others go on', async () => {
    controllers = () => ({
      ...bindings.get('site')?.status,
      request: { id: 'x', op: 'sync', phase: 'running', attempt: 1 },
    });
    store(bindings.get('site') as GitBinding);
    const signal = AbortSignal.abort(new DOMException('the time is up', 'TimeoutError'));
    expect((await world.run('svc.git.push', on, signal)).content).toMatch(/^BUSY: .* has not begun; svc.git.list /);
    expect(bindings.get('site')?.spec.request).toBeUndefined();
  });

  it('gives up with its caller', async () => {
    controllers = () => undefined;
    const leaving = new AbortController();
    const left = world.run('svc.git.refresh', on, leaving.signal);
    await world.clock.advance(1);
    leaving.abort();
    await expect(left).rejects.toThrow(/abort/);
  });

  it('TOOL-024 is deleted once', async () => {
    expect(await world.valueOf('svc.git.delete', on)).toEqual({ binding_id: bindingId, status: 'deleted' });
    expect((await world.run('svc.git.delete', on)).content).toMatch(/^NOT_FOUND/);
    expect(world.audited.at(-1)).toMatchObject({ type: 'GitBindingDeleted' });
  });
});

describe('svc.git.list', () => {
  beforeEach(async () => {
    for (const label of ['a', 'b', 'c']) await clone({ label });
  });

  it.each([
    [{}, ['a', 'b', 'c'], 1, 50],
    [{ limit: 2 }, ['a', 'b'], 1, 2],
    [{ limit: 2, page: 2 }, ['c'], 2, 2],
    [{ limit: 3, page: 2 }, [], 2, 3],
  ])('TOOL-076 TOOL-RULE-14 %j is %j', async (args, names, page, limit) => {
    const { bindings: rows, ...rest } = (await world.valueOf('svc.git.list', args)) as { bindings: { name: string }[] };
    expect(rows.map(({ name }) => name)).toEqual(names);
    expect(rest).toEqual({ page, limit, total: 3 });
  });
});

it('tools of git are not offered where no image is configured', () => {
  expect(Object.keys(createServiceToolsWorld({ gitImage: undefined }).tools).join()).not.toContain('svc.git.');
});

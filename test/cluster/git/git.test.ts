import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiVersion } from '../../../crds/labels.ts';
import type { GitBinding } from '../../../crds/schema/git-binding.ts';
import { securityContexts } from '../../../lib/kinds.ts';
import { KubeError, pods } from '../../../lib/kube/index.ts';
import { type GatewayStage, openGatewayStage, type SigningSession } from '../gateway/stage.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { gitBindings, volumes } from '../harness/kinds.ts';
import { observe } from '../harness/observer.ts';
import { waitForNone, waitForObject } from '../harness/wait.ts';
import { follow } from './follow.ts';
import { type GitServer, startGitServer } from './git-server.ts';

interface Binding {
  readonly binding_id: string;
  readonly volume_id: string;
  readonly commit: string;
  readonly branch?: string;
  readonly ahead: boolean;
}

/** When an operation began and ended, in milliseconds since the Unix epoch. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** The eight tools on the running system, over Debian's git server. Needs the installation of dev/demo/install. */
describe.runIf(isNativeCluster())('bindings of git', () => {
  let stage: GatewayStage;
  let session: SigningSession;
  let server: GitServer;
  const said: string[] = [];

  beforeAll(async () => {
    stage = await openGatewayStage('git');
    server = await startGitServer(stage.kube, stage.tenant);
    await stage.kube.create(securityContexts, {
      apiVersion,
      kind: 'SecurityContext',
      metadata: { name: 'git', namespace: stage.tenant },
      spec: { path_allowlist: ['volume:git-*/**'], git_secrets: ['https', 'ssh', 'for-others', 'absent'] },
    });
    session = await stage.session({ context: 'git' });
  });
  afterAll(async () => {
    await server?.remove();
    await stage?.strike();
  });

  async function call(tool: string, args: object) {
    const called = await stage.call(session, { tool, args: { ...args } });
    said.push(called.text);
    return called;
  }
  const textOf = async (tool: string, args: object): Promise<string> => (await follow(call, tool, args)).content;
  async function good<T = Binding>(tool: string, args: object): Promise<T> {
    const { content, isError } = await follow(call, tool, args);
    if (isError) throw new Error(`${tool}: ${content}`);
    return JSON.parse(content) as T;
  }
  const clone = (label: string, args: object) => good('svc.git.clone', { label, ...args });
  const waitReady = (name: string): Promise<GitBinding> =>
    waitForObject(stage.kube, { resource: gitBindings, namespace: stage.tenant, name }, ({ status }) =>
      ['ready', 'failed'].includes(status?.phase ?? ''),
    );

  it('TOOL-022 TOOL-077 TOOL-078 TOOL-025 TOOL-026 TOOL-023 clones over HTTPS, changes, commits, pushes behind a commit of the server, and refreshes', async () => {
    const made = await clone('site', { repo_url: server.https, secret: 'https', ref: 'main' });
    expect(made).toMatchObject({ branch: 'main', ahead: false });
    const on = { binding_id: made.binding_id };
    const file = { volume_id: made.volume_id, path: 'current/a.txt' };
    expect(await textOf('svc.file.read', file)).toBe('one\n');
    await textOf('svc.file.write', { ...file, content: 'mine\n' });
    expect(await good('svc.git.status', on)).toMatchObject({ changes: [{ kind: 'M', path: 'a.txt' }] });
    expect(await good('svc.git.diff', on)).toMatchObject({ diff: expect.stringContaining('+mine') as unknown });
    expect(await textOf('svc.git.refresh', on)).toMatch(/^UncommittedChanges: /);
    const committed = await good('svc.git.commit', { ...on, message: 'Change a' });
    expect(committed.ahead).toBe(true);
    expect(await textOf('svc.git.commit', { ...on, message: 'Again' })).toMatch(/^NothingToCommit: /);
    expect(await textOf('svc.git.refresh', on)).toMatch(/^UnpushedCommits: /);
    const other = await server.commit('other.txt', 'theirs\n');
    const pushed = await good('svc.git.push', on);
    expect(pushed).toMatchObject({ branch: 'main', ahead: false });
    expect([committed.commit, other]).not.toContain(pushed.commit);
    expect(await textOf('svc.file.read', { ...file, path: 'current/other.txt' })).toBe('theirs\n');
    expect(await textOf('svc.file.read', file)).toBe('mine\n');
    expect(await good('svc.git.refresh', on)).toMatchObject({ commit: pushed.commit });
  });

  it('TOOL-022 clones over SSH with the key of the server pinned, and over HTTP', async () => {
    const ssh = await clone('over-ssh', { repo_url: server.ssh, secret: 'ssh' });
    const http = await clone('over-http', { repo_url: server.http });
    expect(ssh.commit).toBe(http.commit);
    expect(await good('svc.git.list', { limit: 200 })).toMatchObject({ total: 3 });
  });

  it('TOOL-023 refreshes of one binding come one after another, each with its answer', async () => {
    const name = `busy-${randomBytes(3).toString('hex')}`;
    const { binding_id } = await clone(name, { repo_url: server.http });
    const observer = await observe(stage.kube, { resource: gitBindings, namespace: stage.tenant });
    const spans = new Map<string, Span>();
    const answered = observer.until((_view, changed) => {
      const { id, started_at, finished_at } = (changed?.metadata.name === name && changed.status?.answered) || {};
      if (id !== undefined) spans.set(id, { from: Date.parse(started_at ?? ''), to: Date.parse(finished_at ?? '') });
      return spans.size === 3 ? true : undefined;
    });
    answered.catch(() => undefined);
    try {
      const ended = await Promise.all([1, 2, 3].map(() => good('svc.git.refresh', { binding_id })));
      expect(new Set(ended.map(({ commit }) => commit)).size).toBe(1);
      await answered;
    } finally {
      await observer.stop();
    }
    const [first, second, third] = [...spans.values()].toSorted((one, other) => one.to - other.to);
    expect(second?.from).toBeGreaterThanOrEqual(first?.to ?? Number.NaN);
    expect(third?.from).toBeGreaterThanOrEqual(second?.to ?? Number.NaN);
  });

  it.each([
    ['another scheme', 'file:///etc', {}, /^INVALID_ARGUMENT: repo_url/],
    ['an option', '-oProxyCommand=x', {}, /^INVALID_ARGUMENT: repo_url/],
    ['an address of a node', 'http://127.0.0.1:8080/x', {}, /^AddressNotAllowed: /],
    ['the metadata address', 'http://169.254.169.254/x', {}, /^AddressNotAllowed: /],
  ])('TOOL-022 refuses %s', async (label, repo_url, args, want) => {
    expect(await textOf('svc.git.clone', { label: label.replaceAll(' ', '-'), repo_url, ...args })).toMatch(want);
  });

  it('TOOL-022 refuses a redirect to an internal address, links that lead out, and Secrets of other hosts', async () => {
    const away = server.http.replace('/site.git', '/away/site.git');
    expect(await textOf('svc.git.clone', { label: 'away', repo_url: away })).toMatch(/^AddressNotAllowed: /);
    const hostile = { label: 'hostile', repo_url: server.http, ref: 'hostile' };
    expect(await textOf('svc.git.clone', hostile)).toMatch(/^SymlinkOutside: .* out /);
    const foreign = { label: 'foreign', repo_url: server.https, secret: 'for-others' };
    expect(await textOf('svc.git.clone', foreign)).toMatch(/^CredentialFailed: /);
    const unknown = { label: 'unknown', repo_url: server.https, secret: 'absent' };
    expect(await textOf('svc.git.clone', unknown)).toMatch(/^CredentialFailed: /);
    const notLent = { label: 'not-lent', repo_url: server.https, secret: 'not-lent' };
    expect(await textOf('svc.git.clone', notLent)).toMatch(/^PERMISSION_DENIED: secret: .* git_secrets/);
    const wrong = { label: 'wrong', repo_url: server.http, ref: 'nowhere' };
    expect(await textOf('svc.git.clone', wrong)).toMatch(/^RefNotFound: /);
    await waitForNone(stage.kube, {
      resource: gitBindings,
      namespace: stage.tenant,
      fieldSelector: 'metadata.name=away',
    });
  });

  it.each(['refresh', 'commit', 'push', 'status', 'diff', 'delete'])('TOOL-RULE-06 svc.git.%s', async (name) => {
    const tool = `svc.git.${name}`;
    const missing = await call(tool, { message: 'x' });
    expect([missing.status, missing.error?.message]).toEqual([422, expect.stringContaining('binding_id')]);
    expect(await textOf(tool, { binding_id: 'nowhere', message: 'x' })).toMatch(/^NOT_FOUND: /);
  });

  it('TOOL-RULE-06 svc.git.clone and svc.git.commit without what they need', async () => {
    for (const [tool, args, field] of [
      ['svc.git.clone', { repo_url: server.http }, 'label'],
      ['svc.git.clone', { label: 'x' }, 'repo_url'],
      ['svc.git.commit', { binding_id: 'site' }, 'message'],
    ] as const) {
      const { status, error } = await call(tool, args);
      expect([status, error?.message]).toEqual([422, expect.stringContaining(field)]);
    }
  });

  it('a status is written by the controllers alone, and the URL stays', async () => {
    const ref = { namespace: stage.tenant, name: 'site' };
    const { spec } = await waitReady('site');
    const changed = stage.kube.mergePatch(gitBindings, ref, { spec: { ...spec, repo_url: server.http } });
    await expect(changed).rejects.toThrow(/repo_url cannot be changed/);
    const status = stage.kube.jsonPatchStatus(gitBindings, ref, [
      { op: 'replace', path: '/status/commit', value: 'x' },
    ]);
    await expect(status).rejects.toThrow(KubeError);
  });

  it('a pod that is killed in mid-sync is made again, and readers keep the tree', async () => {
    const { metadata, status } = await waitReady('over-http');
    const ref = { namespace: stage.tenant, name: metadata.name };
    const request = { id: 'killed', op: 'sync' };
    await stage.kube.mergePatch(gitBindings, ref, { spec: { request } });
    const begun = await waitForObject(
      stage.kube,
      { resource: gitBindings, ...ref },
      ({ status: now }) => now?.request?.id === 'killed' && now.request.pod !== undefined,
    );
    const pod = begun.status?.request?.pod ?? '';
    await stage.kube.delete(pods, { namespace: stage.tenant, name: pod }, { gracePeriodSeconds: 0 });
    const ended = await waitForObject(
      stage.kube,
      { resource: gitBindings, ...ref },
      ({ status: now }) => now?.answered?.id === 'killed',
      { timeoutMs: 120_000 },
    );
    expect(ended.status?.answered).toMatchObject({ phase: 'succeeded' });
    const path = 'current/sub/b.txt';
    expect(await textOf('svc.file.read', { volume_id: status?.volume?.uid, path })).toBe('two\n');
  });

  it('AMB-201 the credentials are nowhere but in their Secrets', async () => {
    const { kube, tenant: namespace } = stage;
    const { items } = await kube.listAll(pods, { namespace });
    const bindings = await kube.listAll(gitBindings, { namespace });
    const seen = [said, items, bindings.items, await stage.events(), await server.log()].map((one) =>
      JSON.stringify(one),
    );
    for (const canary of server.canaries) for (const text of seen) expect(text.includes(canary)).toBe(false);
  });

  it('TOOL-024 deletes a binding with its volume', async () => {
    const { binding_id } = await good('svc.git.clone', { label: 'short', repo_url: server.http });
    expect(await good('svc.git.delete', { binding_id })).toMatchObject({ status: 'deleted' });
    await waitForNone(stage.kube, {
      resource: volumes,
      namespace: stage.tenant,
      fieldSelector: 'metadata.name=git-short',
    });
  });
});

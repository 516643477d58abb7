import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import { clusterNames } from '../../../lib/tenant/names.ts';
import { type Answer, createSend, type Send } from '../admission/api.ts';
import { type ApiWorld, startApiWorld } from '../api/harness/index.ts';
import { bindRole } from '../harness/bind-role.ts';
import { kubeconfigPath } from '../harness/cluster.ts';

/** Bob defines bindings and contexts (`windlass-operator`), and reads no Secret. Eddy may read those of the namespace. */
let world: ApiWorld;
let send: Send;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'git-secrets', nats: false });
  send = await createSend(kubeconfigPath());
  await bind(clusterNames.operator, 'bob');
  await bind('edit', 'eddy');
});
afterAll(() => world?.close());

const bind = (role: string, user: string): Promise<void> =>
  bindRole(world.kube, { namespace: world.tenant, role, user });

interface Written {
  readonly kind: 'GitBinding' | 'SecurityContext';
  readonly name: string;
  readonly spec: object;
}

const at = (kind: Written['kind'], name = ''): string =>
  `/apis/windlass.dev/v1/namespaces/${world.tenant}/${kind.toLowerCase()}s${name === '' ? '' : `/${name}`}`;
const write = (user: string, { kind, name, spec }: Written): Promise<Answer> =>
  send(
    'POST',
    at(kind),
    { apiVersion: 'windlass.dev/v1', kind, metadata: { name, namespace: world.tenant }, spec },
    { as: user, rights: 'own' },
  );
const change = (user: string, path: string, spec: object): Promise<Answer> =>
  send('PATCH', path, { spec }, { as: user, rights: 'own', contentType: 'application/merge-patch+json' });

const repo_url = 'https://git.example.org/site.git';
const credentials = { secret: { name: 'forge' } };

describe('ADR 0098 a Secret of a git server', () => {
  it('is named in a binding by those who may get it', async () => {
    const refused = await write('bob', { kind: 'GitBinding', name: 'mine', spec: { repo_url, credentials } });
    expect([refused.status, refused.message]).toEqual([403, expect.stringContaining('spec.credentials.secret')]);
    expect((await write('bob', { kind: 'GitBinding', name: 'open', spec: { repo_url } })).status).toBe(201);
    expect((await change('bob', at('GitBinding', 'open'), { credentials })).status).toBe(403);
    expect((await write('eddy', { kind: 'GitBinding', name: 'hers', spec: { repo_url, credentials } })).status).toBe(
      201,
    );
  });

  it.each<[string, object]>([
    ['moves another branch', { ref: 'next' }],
    ['brings the whole history', { depth: 0 }],
    ['writes in the name of another one', { author: { name: 'Eddy', email: 'eddy@example.org' } }],
    ['pushes', { request: { id: 'mine', op: 'push' } }],
    ['pushes to another branch', { ref: 'next', request: { id: 'mine', op: 'push' } }],
  ])('ADR 0137 %s for those who may get it, and for no other user', async (_what, spec) => {
    const name = `bound-${randomBytes(4).toString('hex')}`;
    await write('eddy', { kind: 'GitBinding', name, spec: { repo_url, credentials } });
    const refused = await change('bob', at('GitBinding', name), spec);
    expect([refused.status, refused.message]).toEqual([403, expect.stringContaining('bob needs the right to get')]);
    expect((await change('eddy', at('GitBinding', name), spec)).status).toBe(200);
  });

  it.each<[string, object]>([
    ['a refresh', { request: { id: 'mine', op: 'sync' } }],
    ['a commit', { request: { id: 'mine', op: 'commit', message: 'Change' } }],
    ['a larger volume', { size_limit_mb: 2_048 }],
    ['a binding without the Secret', { credentials: null }],
  ])('ADR 0137 leaves %s to all who may write the binding', async (_what, spec) => {
    const name = `bound-${randomBytes(4).toString('hex')}`;
    await write('eddy', { kind: 'GitBinding', name, spec: { repo_url, credentials } });
    expect((await change('bob', at('GitBinding', name), spec)).status).toBe(200);
  });

  it('ADR 0137 is no reason to push again, once it was used for a push', async () => {
    const path = at('GitBinding', 'pushed');
    const request = { id: 'hers', op: 'push' };
    await write('eddy', { kind: 'GitBinding', name: 'pushed', spec: { repo_url, credentials, request } });
    expect((await change('bob', path, { size_limit_mb: 2_048 })).status).toBe(200);
    expect((await change('bob', path, { request: { id: 'his', op: 'status' } })).status).toBe(200);
    expect((await change('bob', path, { request })).status).toBe(403);
  });

  it('is lent by a context whose writer may get it', async () => {
    const refused = await write('bob', { kind: 'SecurityContext', name: 'mine', spec: { git_secrets: ['forge'] } });
    expect([refused.status, refused.message]).toEqual([
      403,
      expect.stringContaining('spec.git_secrets: names a Secret that bob may not get'),
    ]);
    const all = Array.from({ length: limits.contextGitSecrets }, (_, index) => `forge-${index}`);
    expect((await write('bob', { kind: 'SecurityContext', name: 'mine', spec: { git_secrets: all } })).status).toBe(
      403,
    );
    expect((await write('eddy', { kind: 'SecurityContext', name: 'hers', spec: { git_secrets: all } })).status).toBe(
      201,
    );
    expect((await change('bob', at('SecurityContext', 'hers'), { max_calls: 9 })).status).toBe(403);
    expect((await change('bob', at('SecurityContext', 'hers'), { git_secrets: null })).status).toBe(200);
    const more = { git_secrets: [...all, 'one-more'] };
    expect((await write('eddy', { kind: 'SecurityContext', name: 'more', spec: more })).status).toBe(422);
  });
});

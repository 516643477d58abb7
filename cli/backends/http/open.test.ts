import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { answerJson, loopback } from '../../../test/builders/loopback.ts';
import type { GlobalOptions } from '../../command-context.ts';
import { type OpenDeps, openHttpBackend } from './open.ts';

const claims = { sub: 'anna', iss: 'https://id.example', tenant_id: 'acme', exp: 4e9 };
const tokenOf = (content: object) => `x.${Buffer.from(JSON.stringify(content)).toString('base64url')}.y`;
const token = tokenOf(claims);

function open(server: string, options: GlobalOptions = {}, env: OpenDeps['env'] = {}) {
  const notes: string[] = [];
  const noLogin = () => Promise.reject(new Error('there is no login'));
  const deps: OpenDeps = {
    env: { WINDLASS_TOKEN: token, ...env },
    clock: systemClock,
    files: { read: noLogin },
    logins: { read: noLogin, write: noLogin, remove: noLogin, alone: noLogin },
    findProvider: noLogin,
    terminal: { note: (line) => void notes.push(line) },
    fetch,
  };
  return { backend: openHttpBackend(deps, options, server), notes };
}

describe('the HTTP backend', () => {
  it.each(['https://w.example', 'http://127.0.0.1:8080', 'http://localhost', 'http://[::1]:80'])(
    '%s is safe',
    (server) => {
      expect(open(server).notes).toEqual([]);
    },
  );

  it.each(['http://w.example', 'http://10.0.0.1:8080', 'http://127.0.0.1.example.com'])('%s is warned of', (server) => {
    expect(open(server).notes).toEqual([expect.stringContaining('in clear')]);
  });

  it('says where it looks, and shows commands that lead back', () => {
    const server = 'https://w.example';
    expect(open(server).backend.words).toEqual({
      place: 'in your tenant',
      workflowPlaces: 'in your tenant or at global scope',
      flags: '',
    });
    expect(open(server, { server, tenant: 'acme' }).backend.words).toMatchObject({
      place: 'in tenant acme',
      flags: ' --server https://w.example --tenant acme',
    });
  });

  it('sends the token, the tenant of the option or the environment, and who asks', async () => {
    await using server = await loopback(answerJson(200, { executions: [], next_cursor: null }));
    const filter = { everywhere: false };
    await open(server.url, { tenant: 'acme' }, { WINDLASS_TENANT: 'other' }).backend.executions.list(filter);
    await open(server.url, {}, { WINDLASS_TENANT: 'other' }).backend.executions.list(filter);
    await open(server.url, {}, { WINDLASS_TENANT: '' }).backend.executions.list(filter);
    expect(server.requests.map(({ headers }) => headers['x-tenant-id'])).toEqual(['acme', 'other', undefined]);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      'user-agent': expect.stringMatching(/^windlass-cli\/\d/),
    });
  });

  it('reads every page of a list', async () => {
    const summary = { execution_id: 'e', name: 'n', workflow: 'w', status: 'pending', reason: null, started_at: null };
    await using server = await loopback(
      answerJson(200, { executions: [{ ...summary, name: 'one' }], next_cursor: 'more' }),
      answerJson(200, { executions: [{ ...summary, name: 'two' }], next_cursor: null }),
    );
    const found = await open(server.url).backend.executions.list({ everywhere: false, phase: 'failed', workflow: 'w' });
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['one', 'two']);
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v1/workflows/executions?workflow=w&status=failed&limit=200',
      '/v1/workflows/executions?workflow=w&status=failed&limit=200&cursor=more',
    ]);
  });

  it('knows who the token is about', async () => {
    await using server = await loopback(answerJson(200, { workflows: [], next_cursor: null }));
    expect(await open(server.url).backend.whoAmI()).toEqual({
      user: 'anna',
      facts: { server: server.url, issuer: 'https://id.example', tenant: 'acme', expires: '2096-10-02T07:06:40.000Z' },
    });
  });

  it('knows the display name of a user whose subject is an id', async () => {
    await using server = await loopback(answerJson(200, { workflows: [], next_cursor: null }));
    const known = { ...claims, sub: '9ae9d347', preferred_username: 'anna' };
    const { backend } = open(server.url, {}, { WINDLASS_TOKEN: tokenOf(known) });
    expect(await backend.whoAmI()).toMatchObject({ user: '9ae9d347', facts: { name: 'anna' } });
  });

  it('says what keeps the user from working there, and nothing of a refused token', async () => {
    await using closed = await loopback(answerJson(403, { error: 'forbidden', message: 'the token names no tenant' }));
    expect((await open(closed.url).backend.whoAmI()).facts).toMatchObject({ problem: 'the token names no tenant' });
    await using refusing = await loopback(answerJson(401, { error: 'unauthorized' }));
    await expect(open(refusing.url).backend.whoAmI()).rejects.toMatchObject({ status: 401 });
  });

  it('knows what is not there from an address that is not its own', async () => {
    await using behind = await loopback(
      answerJson(404, { error: 'not_found', message: 'there is nothing at this path' }),
    );
    await expect(open(behind.url).backend.executions.read('x')).rejects.toMatchObject({ error: 'not_found' });
    await using right = await loopback(answerJson(404, { error: 'Execution not found' }));
    await expect(open(right.url).backend.executions.read('x')).rejects.toMatchObject({ exit: 'not_found' });
  });

  it.each([
    ['--all-namespaces', { everywhere: true }],
    ['--selector', { everywhere: false, selector: 'a=b' }],
  ])('says that %s is for Kubernetes', async (option, filter) => {
    await expect(open('https://w.example').backend.executions.list(filter)).rejects.toMatchObject({
      exit: 'usage',
      message: `${option} is for Kubernetes, not for the HTTP API`,
    });
  });
});

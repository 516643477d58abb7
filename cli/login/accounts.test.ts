import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createAccounts } from './accounts.ts';
import { createLoginStore } from './login-store.ts';
import type { OidcProvider } from './provider.ts';
import { createTokenSource } from './token-source.ts';

const server = 'https://w.example';
const login = {
  server,
  issuer: 'https://id.example',
  clientId: 'c',
  scope: 's',
  accessToken: 'a1',
  refreshToken: 'r1',
};

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-accounts-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** A provider that renews a token when the test asks for it. */
function world() {
  const logins = createLoginStore(join(folder, 'logins'), systemClock);
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const revoked: string[] = [];
  const provider: Pick<OidcProvider, 'refresh' | 'revoke'> = {
    refresh: async () => {
      asked.resolve();
      await answer.promise;
      return { accessToken: 'a2', refreshToken: 'r2' };
    },
    revoke: async (token) => void revoked.push(token),
  };
  const deps = { clock: systemClock, logins, findProvider: async () => provider as OidcProvider };
  const accounts = createAccounts({ ...deps, fetch, interrupted: new AbortController().signal });
  const getToken = createTokenSource({ ...deps, env: {}, files: { read: async () => '' } }, { server, flags: '' });
  return { accounts, getToken, logins, revoked, asked: asked.promise, answer: () => answer.resolve() };
}

it('logging out while the login is being renewed revokes what the renewal brings, and leaves nothing', async () => {
  const { accounts, getToken, logins, revoked, asked, answer } = world();
  await logins.write(login);
  const renewing = getToken('a1');
  await asked;
  const leaving = accounts.logout(server);
  // Time enough to do the wrong thing.
  await systemClock.sleep(50);
  answer();
  expect(await Promise.all([renewing, leaving])).toEqual(['a2', true]);
  expect(revoked).toEqual(['r2']);
  expect(await logins.read(server)).toBeUndefined();
});

it('logging out without a login says so', async () => {
  const { accounts, revoked } = world();
  expect(await accounts.logout(server)).toBe(false);
  expect(revoked).toEqual([]);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountDeps, createAccounts } from '../../cli/login/accounts.ts';
import { createLoginStore } from '../../cli/login/login-store.ts';
import { findProvider } from '../../cli/login/provider.ts';
import { createTokenSource } from '../../cli/login/token-source.ts';
import { type OidcServer, startOidc } from '../../dev/oidc/server.ts';
import { approveDevice } from '../../dev/oidc/sign-in.ts';
import { systemClock } from '../../lib/clock.ts';
import { answerJson, type Loopback, loopback } from '../builders/loopback.ts';

/** A server that says which provider it trusts, and takes every token. */
const trusting = (issuer: string) =>
  loopback((request, response) => {
    const metadata = {
      resource: 'http://windlass/',
      authorization_servers: [issuer],
      scopes_supported: ['openid', 'offline_access'],
      bearer_methods_supported: ['header'],
      windlass_client_id: 'windlass-cli',
    };
    answerJson(200, request.url?.startsWith('/.well-known') ? metadata : { workflows: [], next_cursor: null })(
      request,
      response,
    );
  });

let provider: OidcServer;
let server: Loopback;
let folder = '';
beforeAll(async () => {
  provider = await startOidc();
  server = await trusting(provider.issuer);
  folder = await mkdtemp(join(tmpdir(), 'windlass-login-'));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await provider.close();
  await rm(folder, { recursive: true });
});

const person = { name: 'anna', tenant: 'acme', roles: ['svc:operator'] };

/** A user whose pauses between polls are spent with a browser. */
function loginDeps(spend: () => Promise<void>, interrupted = new AbortController().signal): AccountDeps {
  return {
    clock: { ...systemClock, sleep: spend },
    interrupted,
    logins: createLoginStore(folder, systemClock),
    findProvider: (choice) => findProvider({ fetch, signal: interrupted }, choice),
    fetch,
  };
}

async function logIn() {
  const shown = { link: '', code: '' };
  const deps = loginDeps(() => approveDevice(shown.link, person));
  const login = await createAccounts(deps).login(server.url, {}, (prompt) => Object.assign(shown, prompt));
  return { login, shown, deps };
}

const tokens = ({ logins, findProvider: find }: AccountDeps) =>
  createTokenSource(
    {
      env: {},
      clock: systemClock,
      files: { read: () => Promise.reject(new Error('no file')) },
      logins,
      findProvider: find,
    },
    { server: server.url, flags: '' },
  );

describe('windlass login at a real provider', () => {
  it('needs only the address of the server, and gives a token of the person', async () => {
    const { login, shown } = await logIn();
    expect(shown.code).toMatch(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/);
    expect(shown.link).toContain(provider.issuer);
    expect(decodeJwt(login.accessToken)).toMatchObject({ sub: 'anna', tenant_id: 'acme', aud: 'windlass' });
    expect(login).toMatchObject({ issuer: provider.issuer, clientId: 'windlass-cli', scope: 'openid offline_access' });
    expect(Date.parse(login.expiresAt ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
    expect(login.refreshToken).toEqual(expect.any(String));
  });

  it('is renewed without a word, again and again, also by several commands at once', async () => {
    const { login, deps } = await logIn();
    const get = tokens(deps);
    expect(await get()).toBe(login.accessToken);
    const second = await get(login.accessToken);
    expect(second).not.toBe(login.accessToken);
    const others = await Promise.all([get(second), get(second), get(second)]);
    expect(new Set(others).size).toBe(1);
    expect(others[0]).not.toBe(second);
    expect(decodeJwt(others[0] ?? '')).toMatchObject({ sub: 'anna', tenant_id: 'acme' });
  });

  it('ends with the logout: what was kept is gone, and the provider renews nothing any more', async () => {
    const { login, deps } = await logIn();
    const accounts = createAccounts(deps);
    expect(await accounts.logout(server.url)).toBe(true);
    expect(await accounts.logout(server.url)).toBe(false);
    const found = await deps.findProvider(login);
    expect(await found.refresh(login.refreshToken ?? '')).toBeUndefined();
    await expect(tokens(deps)()).rejects.toThrow('not logged in');
  });

  it('has ended when the provider has forgotten it', async () => {
    const { login, deps } = await logIn();
    await deps.logins.write({ ...login, refreshToken: 'forgotten' });
    await expect(tokens(deps)(login.accessToken)).rejects.toThrow('has expired');
  });

  it('says who refuses what', async () => {
    const accounts = createAccounts(loginDeps(() => Promise.resolve()));
    const to = (options: object) => accounts.login(server.url, options, () => undefined);
    await expect(to({ issuer: provider.issuer, clientId: 'nobody' })).rejects.toThrow(
      /refuses the login: (invalid_client|unauthorized_client)/,
    );
    await expect(to({ issuer: 'http://id.example.com' })).rejects.toThrow(
      "'http://id.example.com' is not the address of a provider",
    );
    await expect(to({ issuer: server.url })).rejects.toThrow(`the provider ${server.url}/ cannot be used`);
    await expect(to({ issuer: `${provider.issuer}/realms/absent` })).rejects.toThrow('it answers with status 404');
    await expect(to({ issuer: provider.issuer.replace('127.0.0.1', 'localhost') })).rejects.toThrow(
      `cannot be used: it calls itself ${provider.issuer}`,
    );
    await using away = await loopback(answerJson(404, { error: 'not_found' }));
    await expect(accounts.login(away.url, {}, () => undefined)).rejects.toThrow(
      'does not say where its tokens come from',
    );
  });

  it('ends at Ctrl-C, and keeps nothing', async () => {
    const interrupt = new AbortController();
    const deps = loginDeps(async () => interrupt.abort(), interrupt.signal);
    await deps.logins.remove(server.url);
    await expect(createAccounts(deps).login(server.url, {}, () => undefined)).rejects.toMatchObject({
      exit: 'interrupted',
    });
    expect(await deps.logins.read(server.url)).toBeUndefined();
  });
});

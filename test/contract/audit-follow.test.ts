import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccounts } from '../../cli/login/accounts.ts';
import { createLoginStore, loginFolder } from '../../cli/login/login-store.ts';
import { findProvider } from '../../cli/login/provider.ts';
import { type OidcServer, startOidc } from '../../dev/oidc/server.ts';
import { approveDevice, userToken } from '../../dev/oidc/sign-in.ts';
import { systemClock } from '../../lib/clock.ts';
import { answerJson, type Loopback, loopback } from '../builders/loopback.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { runCli } from '../support/cli.ts';
import { type GatewayReplica, startGatewayReplica, startLists } from '../support/gateway-replica.ts';
import type { HttpPeer } from '../support/http-peer.ts';
import { startTestMcpServer, type TestMcpServer } from '../support/mcp-server.ts';
import { startWay, type Way } from '../support/way.ts';

/** A gateway and a login whose token has to be renewed before each read, at a provider that can be away. */
let nats: TestBus;
let way: Way;
let provider: OidcServer;
let notes: TestMcpServer;
let lists: HttpPeer;
let gateway: GatewayReplica;
/** The API, where a login finds the provider. */
let api: Loopback;
let env: Record<string, string>;
let operator: string;

const person = { name: 'anna', tenant: 'acme', roles: ['svc:operator'] };
const logins = () => createLoginStore(loginFolder(env), systemClock);

beforeAll(async () => {
  [nats, way] = await Promise.all([startTestBus(), startWay()]);
  provider = await startOidc({ issuer: way.url, tokenSeconds: 30 });
  way.leadTo(provider.port);
  notes = await startTestMcpServer({ tools: () => [], call: async () => ({ content: [] }) });
  lists = await startLists();
  const { publicKey } = generateKeyPairSync('ed25519');
  gateway = await startGatewayReplica({
    nats: nats.server.url,
    notes: notes.url,
    lists,
    env: {
      SEAL_GATEWAY_OPERATOR_JWT_ISSUER: way.url,
      SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: 'windlass',
      OIDC_ALLOW_HTTP: 'true',
      SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    },
  });
  api = await loopback(
    answerJson(200, {
      resource: 'http://windlass/',
      authorization_servers: [way.url],
      scopes_supported: ['openid', 'offline_access'],
      bearer_methods_supported: ['header'],
      windlass_client_id: 'windlass-cli',
    }),
  );
  const folder = await mkdtemp(join(tmpdir(), 'windlass-follow-'));
  env = { XDG_CONFIG_HOME: folder, WINDLASS_SERVER: api.url, WINDLASS_GATEWAY: gateway.url };
  operator = await userToken({ issuer: way.url }, person);
  const shown = { link: '' };
  const accounts = createAccounts({
    clock: { ...systemClock, sleep: () => approveDevice(shown.link, person) },
    interrupted: new AbortController().signal,
    logins: logins(),
    findProvider: (choice) => findProvider({ fetch, signal: new AbortController().signal }, choice),
    fetch,
  });
  await accounts.login(api.url, {}, (prompt) => Object.assign(shown, prompt));
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([api[Symbol.asyncDispose](), notes.close(), lists.close(), provider.close()]);
  await Promise.all([way.close(), nats.stop(), rm(env['XDG_CONFIG_HOME'] ?? '', { recursive: true })]);
});

/** One event of the tenant. */
async function mismatch(asserted: string): Promise<void> {
  const headers = { authorization: `Bearer ${operator}`, 'x-tenant-id': asserted };
  expect((await fetch(`${gateway.url}/v1/tools`, { headers })).status).toBe(403);
}

function follow(onLine: (line: string) => void, interrupted?: AbortSignal) {
  return runCli(['gateway', 'audit', '--follow', '-o', 'json'], env, { onLine, ...(interrupted && { interrupted }) });
}

describe('windlass gateway audit --follow with a login', () => {
  it('continues when the identity provider was away, and says meanwhile when it tries again', async () => {
    const [read, stop] = [Promise.withResolvers<void>(), new AbortController()];
    const following = follow((line) => {
      if (line.includes('"before"')) read.resolve();
      if (line.includes('"after"')) stop.abort();
    }, stop.signal);
    await mismatch('before');
    await read.promise;
    way.cut();
    const { refused } = way;
    // Two reads that fail, and the pause between them.
    await expect.poll(() => way.refused, { timeout: 30_000 }).toBeGreaterThanOrEqual(refused + 2);
    await mismatch('after');
    way.mend();
    const { code, notes: said } = await following;
    expect([code, said]).toEqual([
      130,
      expect.stringMatching(/next attempt is in 1 s: the provider .* cannot be used/),
    ]);
  }, 90_000);

  it('ends where the provider refuses to renew the login, with what to do', async () => {
    const login = await logins().read(api.url);
    if (login === undefined) throw new Error('no login');
    let isSpoilt = false;
    const { code, notes: said } = await follow(() => {
      if (isSpoilt) return;
      isSpoilt = true;
      void logins().write({ ...login, refreshToken: 'spoilt', expiresAt: new Date(0).toISOString() });
    });
    expect([code, said]).toEqual([7, expect.stringContaining('has expired\nLog in again: windlass login')]);
  }, 60_000);
});

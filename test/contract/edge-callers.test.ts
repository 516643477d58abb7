import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contracts } from '../../api/routes/edge/index.ts';
import { type OidcServer, startOidc } from '../../dev/oidc/server.ts';
import { serviceAccountToken, userToken } from '../../dev/oidc/sign-in.ts';
import { systemClock } from '../../lib/clock.ts';
import { parseConfig } from '../../lib/config.ts';
import { mintEnrollmentToken, mintNodeToken } from '../../lib/edge/index.ts';
import { createHttpApp, type Listener, listen } from '../../lib/http/index.ts';
import { type Authentication, createAuthentication, IdentityConfig } from '../../lib/identity/index.ts';
import { newId } from '../../lib/ids.ts';
import { edgeWorld, everyEdgeScope } from '../builders/edge-world.ts';
import { silentLogger } from '../support/silent-logger.ts';

let provider: OidcServer;
let stranger: OidcServer;
let authentication: Authentication;
let listener: Listener;

beforeAll(async () => {
  provider = await startOidc();
  stranger = await startOidc();
  const settings = { WINDLASS_OIDC_ISSUER: provider.issuer, OIDC_ALLOW_HTTP: 'true' };
  authentication = createAuthentication(
    { clock: systemClock, logger: silentLogger },
    parseConfig(IdentityConfig, settings),
  );
  const app = createHttpApp({
    routes: edgeWorld().routes,
    authenticate: (headers) => authentication.authenticate(headers),
    tenantOf: ({ tenant }) => tenant,
    clock: systemClock,
    logger: silentLogger,
    newId,
  });
  listener = await listen(app, { port: 0, host: '127.0.0.1' });
}, 60_000);
afterAll(async () => {
  await listener.close(AbortSignal.abort());
  await authentication.close();
  await provider.close();
  await stranger.close();
});

const operations = contracts.map(({ operationId, method, path, body }) => ({
  operationId,
  method,
  path,
  body: body?.kind === 'json' ? JSON.stringify(body.example) : undefined,
}));

/** Status and word of an operation under these headers; ids are of nothing that exists. */
async function answer(
  { method, path, body }: (typeof operations)[number],
  headers: Readonly<Record<string, string>>,
): Promise<readonly [number, string | undefined]> {
  const response = await fetch(`http://127.0.0.1:${listener.port}${path.replaceAll(/\{[^}]+\}/g, randomUUID())}`, {
    method: method.toUpperCase(),
    headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body }),
  });
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: string };
  return [response.status, error];
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const anna = { name: 'anna', tenant: 'acme', roles: everyEdgeScope };
/** An Ed25519 key of edge mode. */
const key = generateKeyPairSync('ed25519');

describe.each(operations)('EDGE-AUTH-01 EDGE-REST-09 $operationId over HTTP', (operation) => {
  const refusals: readonly (readonly [string, () => Promise<Record<string, string>>])[] = [
    ['without a token', async () => ({})],
    ['with a word that is no token', async () => bearer('letmein')],
    ['with a password', async () => ({ authorization: `Basic ${Buffer.from('anna:anna').toString('base64')}` })],
    ['with a token of another provider', async () => bearer(await userToken(stranger, anna))],
    [
      'with an enrollment token',
      async () => {
        const facts = { jti: randomUUID(), tid: 'acme', issuedBy: 'ops', now: Date.now(), ttlSeconds: 900 };
        return bearer(await mintEnrollmentToken(key.privateKey, facts));
      },
    ],
    [
      'with the token of a host',
      async () => {
        const facts = { nodeId: randomUUID(), tid: 'acme', jti: randomUUID(), publicKey: key.publicKey };
        return bearer(await mintNodeToken(key.privateKey, { ...facts, issuedAt: Date.now(), lifeMs: 60_000 }));
      },
    ],
  ];
  it.each(refusals)('answers 401 %s', async (_what, headers) => {
    expect(await answer(operation, await headers())).toEqual([401, 'unauthorized']);
  });

  it('EDGE-AUTH-08 EDGE-AUTH-09 answers 403 to a user whose roles are no scope, and takes those that are', async () => {
    const without = await userToken(provider, { ...anna, roles: ['svc:operator'] });
    expect((await answer(operation, bearer(without)))[0]).toBe(403);
    const [code] = await answer(operation, bearer(await userToken(provider, anna)));
    expect([200, 204, 400, 404]).toContain(code);
  });
});

describe('tenants over HTTP', () => {
  it('EDGE-AUTH-10 EDGE-AUTH-11 are that of the header for a service account, and never for a user', async () => {
    const [list] = operations.filter(({ operationId }) => operationId === 'listEdgeHosts');
    if (list === undefined) throw new Error('no list of hosts');
    const account = await serviceAccountToken(provider, { name: 'ci', roles: everyEdgeScope });
    expect((await answer(list, { ...bearer(account), 'x-tenant-id': 'acme' }))[0]).toBe(200);
    expect((await answer(list, { ...bearer(account), 'x-tenant-id': 'Acme!' }))[0]).toBe(400);
    expect((await answer(list, { ...bearer(await userToken(provider, anna)), 'x-tenant-id': 'Acme!' }))[0]).toBe(200);
  });
});

import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiDocument as apiDocument } from '../../api/openapi/document.ts';
import { contracts as apiContracts } from '../../api/routes/contracts.ts';
import { GatewayConfig } from '../../gateway/config.ts';
import { createOperatorAuthentication, type Operator } from '../../gateway/identity/operator.ts';
import { openApiDocument as gatewayDocument } from '../../gateway/openapi/document.ts';
import { contracts as gatewayContracts } from '../../gateway/routes/contracts.ts';
import { systemClock } from '../../lib/clock.ts';
import { parseConfig } from '../../lib/config.ts';
import type { Contract } from '../../lib/http/contract.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { type Caller, createAuthentication, IdentityConfig, requireOneOf } from '../../lib/identity/index.ts';
import { answerJson, type HttpPeer, startHttpPeer } from '../support/http-peer.ts';
import { sendRaw, startTestServer, type TestServer } from '../support/http-server.ts';
import { makeKey, type TestKey } from '../support/keys.ts';
import { silentLogger } from '../support/silent-logger.ts';

/**
 * Each operation of each document with each kind of bearer: the tokens, their verification and the rules of access are real. The
 * handlers are not there: a request that reaches one is answered 418.
 */
interface Operation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const reached = 418;
const everyScope = 'every-scope';
const scopes = [...new Set(apiContracts.flatMap(({ errors }) => errors.flatMap(({ needs }) => needs ?? [])))];
const roleScopes = `${everyScope}=${scopes.filter((one) => one.startsWith('svc.')).join(',')}`;

let peer: HttpPeer;
let known: TestKey;
let stranger: TestKey;
let api: TestServer;
let gateway: TestServer;
const closing: (() => Promise<unknown>)[] = [];
/** Tenants of the callers whose requests reached a handler. */
const tenants: (string | undefined)[] = [];

const handle = async ({ caller }: { readonly caller?: Caller | Operator }): Promise<never> => {
  tenants.push(caller?.tenant);
  throw new HttpError({ code: 'invalid', status: reached, message: 'the handler was reached' });
};

const routesOf = (contracts: readonly Contract[]) =>
  contracts.map((contract) => ({ contract, handle: handle as never }));

beforeAll(async () => {
  [known, stranger] = await Promise.all([makeKey('EdDSA', 'known'), makeKey('EdDSA', 'known')]);
  peer = await startHttpPeer(({ path }, response) =>
    path === '/keys'
      ? answerJson(response, 200, { keys: [known.publicJwk] })
      : answerJson(response, 200, { issuer: peer.url, jwks_uri: `${peer.url}/keys` }),
  );
  api = await startApi();
  gateway = await startGateway();
});
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await peer.close();
});

async function startApi(): Promise<TestServer> {
  const config = parseConfig(IdentityConfig, {
    WINDLASS_OIDC_ISSUER: peer.url,
    OIDC_ALLOW_HTTP: 'true',
    WINDLASS_OIDC_ROLE_SCOPES: roleScopes,
  });
  const authentication = createAuthentication({ clock: systemClock, logger: silentLogger }, config);
  const server = await startTestServer(routesOf(apiContracts), {
    authenticate: ((headers: IncomingHttpHeaders) => authentication.authenticate(headers)) as never,
    authorize: requireOneOf as never,
    tenantOf: (({ tenant }: Caller) => tenant) as never,
  });
  closing.push(
    () => server.close(),
    () => authentication.close(),
  );
  return server;
}

async function startGateway(): Promise<TestServer> {
  const config = parseConfig(GatewayConfig, {
    SEAL_GATEWAY_OPERATOR_JWT_ISSUER: peer.url,
    SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: 'windlass',
    OIDC_ALLOW_HTTP: 'true',
  });
  const readFile = (path: string): string => path;
  const authentication = createOperatorAuthentication({ clock: systemClock, logger: silentLogger, readFile }, config);
  const server = await startTestServer(routesOf(gatewayContracts), {
    authenticate: ((headers: IncomingHttpHeaders) => authentication.authenticate(headers)) as never,
    tenantOf: (({ tenant }: Operator) => tenant ?? '') as never,
  });
  closing.push(
    () => server.close(),
    () => authentication.close(),
  );
  return server;
}

const nowSeconds = (): number => Math.floor(systemClock.now() / 1_000);

const claims = (change: object = {}) => ({
  iss: peer.url,
  aud: 'windlass',
  sub: 'anna',
  tenant_id: 'acme',
  svc_role: ['svc:operator', everyScope],
  exp: nowSeconds() + 600,
  ...change,
});

const credentials = {
  'no token': async () => undefined,
  'another scheme': async () => `Basic ${await known.sign(claims())}`,
  'a token of no form': async () => 'Bearer abc',
  'a token of another key': async () => `Bearer ${await stranger.sign(claims())}`,
  'a token that has expired': async () => `Bearer ${await known.sign(claims({ exp: nowSeconds() - 3_600 }))}`,
  'a token of another issuer': async () => `Bearer ${await known.sign(claims({ iss: 'http://other.example' }))}`,
  'a token for another audience': async () => `Bearer ${await known.sign(claims({ aud: 'other' }))}`,
  'a token without role and scope': async () => `Bearer ${await known.sign(claims({ svc_role: [] }))}`,
  'a token without a tenant': async () => `Bearer ${await known.sign(claims({ tenant_id: undefined }))}`,
  'a token of another tenant': async () => `Bearer ${await known.sign(claims({ tenant_id: 'other' }))}`,
  'the right token': async () => `Bearer ${await known.sign(claims())}`,
};
type Credential = keyof typeof credentials;

const names = Object.keys(credentials) as Credential[];
const unauthenticated: readonly Credential[] = names.slice(0, 7);

interface Case {
  readonly process: 'API' | 'gateway';
  readonly operation: Operation;
  readonly contract: Contract;
}

function casesOf(process: Case['process'], document: unknown, contracts: readonly Contract[]): readonly Case[] {
  return Object.values((document as Document).paths).flatMap((operations) =>
    Object.values(operations).map((operation) => {
      const contract = contracts.find(({ operationId }) => operationId === operation.operationId);
      if (contract === undefined) throw new Error(`${operation.operationId} has no contract`);
      return { process, operation, contract };
    }),
  );
}

const operations = [
  ...casesOf('API', apiDocument(), apiContracts),
  ...casesOf('gateway', gatewayDocument(), gatewayContracts),
];
const guarded = operations.filter(({ operation }) => operation.security.some((one) => 'bearer' in one));
const open = operations.filter((one) => !guarded.includes(one));

const title = ({ process, contract }: Case): string =>
  `${process} ${contract.method.toUpperCase()} ${contract.path} ${contract.operationId}`;

/** The path with ids of a form that most schemas take, and the query for which a right is asked. */
function targetOf({ path, errors }: Contract): string {
  const target = path.replaceAll(/\{\w+\}/g, '0b9ee2a4-4d2b-4ad2-b1a6-6a5b1c2f6a01');
  const [where] = errors.flatMap(({ needs, needsFor }) => (needs === undefined ? [] : (needsFor ?? [])));
  return where === undefined ? target : `${target}?${where.query}=${where.value}`;
}

async function statusOf(one: Case, credential: Credential): Promise<number> {
  const { method } = one.contract;
  const token = await credentials[credential]();
  const lines = [
    `${method.toUpperCase()} ${targetOf(one.contract)} HTTP/1.1`,
    'Host: test',
    'Content-Length: 0',
    'X-Tenant-Id: acme',
    ...(token === undefined ? [] : [`Authorization: ${token}`]),
  ];
  const { port } = one.process === 'API' ? api : gateway;
  return (await sendRaw(port, `${lines.join('\r\n')}\r\n\r\n`)).status;
}

const needsRight = ({ contract }: Case): boolean => contract.errors.some(({ needs }) => needs !== undefined);

/** Statuses of the document, or that of the handler. */
const documented = ({ operation }: Case): readonly number[] => [
  reached,
  ...Object.keys(operation.responses).map(Number),
];

const each = (list: readonly Case[], credentialsOf: readonly Credential[]) =>
  list.flatMap((one) => credentialsOf.map((credential) => [title(one), credential, one] as const));

describe('an operation that the document secures by a bearer token', () => {
  it.each(each(guarded, unauthenticated))('%s answers the documented 401 to %s', async (_, credential, one) => {
    expect(await statusOf(one, credential)).toBe(401);
    expect(documented(one)).toContain(401);
  });

  it.each(each(guarded, ['a token without role and scope']))(
    '%s answers %s the documented 403 where it needs one',
    async (_, credential, one) => {
      const status = await statusOf(one, credential);
      expect(documented(one)).toContain(status);
      expect(status === 403).toBe(one.process === 'gateway' || needsRight(one));
    },
  );

  it.each(each(guarded, ['a token without a tenant']))(
    '%s answers %s the documented 403',
    async (_, credential, one) => {
      expect(await statusOf(one, credential)).toBe(403);
      expect(documented(one)).toContain(403);
    },
  );

  it.each(each(guarded, ['a token of another tenant', 'the right token']))(
    '%s lets %s in, for the tenant of the token and no other',
    async (_, credential, one) => {
      tenants.length = 0;
      const status = await statusOf(one, credential);
      expect([401, 403]).not.toContain(status);
      expect(documented(one)).toContain(status);
      const tenant = credential === 'the right token' ? 'acme' : 'other';
      expect(tenants).toEqual(status === reached ? [tenant] : []);
    },
  );
});

describe('an operation that the document leaves open or secures by a signature', () => {
  it.each(each(open, names))('%s looks at no bearer: %s', async (_, credential, one) => {
    tenants.length = 0;
    const status = await statusOf(one, credential);
    expect(status).toBe(await statusOf(one, 'no token'));
    expect(documented(one)).toContain(status);
    expect(tenants.filter((tenant) => tenant !== undefined)).toEqual([]);
  });
});

describe('the documents', () => {
  it('have every operation of the listeners, so that none is left out here', () => {
    expect(operations).toHaveLength(apiContracts.length + gatewayContracts.length);
    expect(each(operations, names).length).toBeGreaterThan(500);
  });

  it('say of each operation what its contract enforces', () => {
    const isBearer = ({ contract }: Case): boolean => contract.access === 'bearer';
    expect(guarded.map(title)).toEqual(operations.filter(isBearer).map(title));
  });
});

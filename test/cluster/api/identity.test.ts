import { decodeJwt, importJWK, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { OidcServer } from '../../../dev/oidc/server.ts';
import { startOidc } from '../../../dev/oidc/server.ts';
import { userToken } from '../../../dev/oidc/sign-in.ts';
import { anEnd, aQuestion, aWorkflow } from '../../builders/workflow-builder.ts';
import { startExecution, waitUntilWaiting } from '../harness/executions.ts';
import { volumes, workflowExecutions, workflows } from '../harness/kinds.ts';
import { type ApiWorld, type Bearer, type Received, type Sending, startApiWorld } from './harness/index.ts';

/** An operation of the published document. */
interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly access: 'bearer' | 'signature' | 'public';
}

/** Objects of tenant `world.tenant`; the other one is empty. */
interface Belongings {
  readonly workflow: string;
  readonly execution: string;
  readonly approval: string;
  readonly volume: string;
}

const unknownId = '8b0c8f6e-6d4b-4b7e-9c56-0a1b2c3d4e5f';
const unauthorized = {
  error: 'unauthorized',
  code: 'unauthorized',
  message: 'send a valid token, or a valid signature',
};

let world: ApiWorld;
let operations: Operation[];
let own: Belongings;
let anna: string;
let olga: string;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'api-identity', replicas: 2 });
  anna = await world.token({ user: 'anna', tenant: world.tenant });
  olga = await world.token({ user: 'olga', tenant: world.otherTenant });
  operations = await readOperations();
  own = await makeBelongings();
  if (Object.values(own).includes('')) throw new Error('a belonging has no id: nothing would be hidden');
});
afterAll(() => world?.close());

async function readOperations(): Promise<Operation[]> {
  const { paths } = (await world.http('/openapi.json')).json<{
    paths: Record<string, Record<string, { operationId: string; security: Record<string, unknown>[] }>>;
  }>();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id, security }]) => {
      const access = (Object.keys(security[0] ?? {})[0] ?? 'public') as Operation['access'];
      return { id, method: method.toUpperCase(), path, access };
    }),
  );
}

async function makeBelongings(): Promise<Belongings> {
  const { kube, tenant: namespace } = world;
  const workflow = aWorkflow('identity-gate')
    .state('ask', aQuestion('Go on?', { yes: 'done', no: 'done' }))
    .state('done', anEnd())
    .build();
  const made = await kube.create(workflows, { ...workflow, metadata: { ...workflow.metadata, namespace } });
  const ref = { namespace, name: 'identity-gate-1' };
  await startExecution(kube, ref, { workflow: 'identity-gate' });
  const execution = await waitUntilWaiting(kube, { ...ref, state: 'ask' });
  // A list is what the replica has seen by then.
  const approval = await vi.waitUntil(async () => {
    const listed = await world.http('/v1/human-approvals', { token: anna });
    return listed.json<{ pending_requests: { id: string }[] }>().pending_requests[0]?.id;
  }, 10_000);
  const volume = await kube.create(volumes, {
    apiVersion: 'windlass.dev/v1',
    kind: 'Volume',
    metadata: { name: 'identity-volume', namespace },
    spec: { storage_class: 'persistent', size_limit_mb: 1 },
  });
  return {
    workflow: made.metadata.uid ?? '',
    execution: execution.metadata.uid ?? '',
    approval,
    volume: volume.metadata.uid ?? '',
  };
}

/** The path of an operation with these ids in it. */
function fill({ path }: Operation, { workflow, execution, approval, volume }: Belongings): string {
  return path
    .replace('{execution_id}', execution)
    .replace('{workflow}', workflow)
    .replace('{id}', approval)
    .replace('{volume_id}', volume)
    .replace('{source}', 'my-ci');
}

const bodies: Readonly<Record<string, unknown>> = {
  signalExecution: { response: 'yes' },
  approveHumanApproval: {},
  rejectHumanApproval: { reason: 'no' },
  retryExecution: { from: 'ask' },
};
const sending = ({ id, method }: Operation, token?: string, headers?: Sending['headers']): Sending => ({
  method,
  body: bodies[id],
  token,
  headers,
});

/** Everything of an answer that its caller can tell it from another by. */
const visible = ({ status, headers, text }: Received) => ({
  status,
  type: headers['content-type'],
  authenticate: headers['www-authenticate'],
  text,
});

async function forge(change: JWTPayload, provider: OidcServer = world.provider): Promise<string> {
  const jwk = provider.keys[0] ?? {};
  const signer = new SignJWT({ ...decodeJwt(anna), ...change });
  signer.setProtectedHeader({ alg: jwk.alg ?? '', kid: jwk.kid, typ: 'at+jwt' });
  return signer.sign(await importJWK(jwk, jwk.alg));
}

describe('without a valid token', () => {
  it('ORCH-AUTH-01 ORCH-AUTH-13 ORCH-AUTH-14 ORCH-AUTH-15 ORCH-AUTH-16 every operation that needs one answers 401', async () => {
    const protectedOnes = operations.filter(({ access }) => access === 'bearer');
    expect(protectedOnes.length).toBeGreaterThan(20);
    for (const operation of protectedOnes) {
      const answer = await world.http(fill(operation, own), { method: operation.method });
      expect({ id: operation.id, ...visible(answer) }).toEqual({
        id: operation.id,
        status: 401,
        type: 'application/json',
        authenticate: 'Bearer',
        text: JSON.stringify(unauthorized),
      });
    }
  });

  it('AMB-024 nothing tells why', async () => {
    const foreign = await startOidc();
    const tokens: Record<string, string> = {
      text: 'hello',
      foreign: await userToken(foreign, { name: 'anna', tenant: world.tenant }),
      'foreign that says it is ours': await forge({}, foreign),
      expired: await forge({ exp: Math.floor(Date.now() / 1_000) - 60 }),
      'not valid yet': await forge({ nbf: Math.floor(Date.now() / 1_000) + 600 }),
      'of another audience': await forge({ aud: 'other' }),
      'of another issuer': await forge({ iss: `${world.provider.issuer}/` }),
      'without subject': await forge({ sub: undefined }),
      'without expiry': await forge({ exp: undefined }),
      'without signature': `${anna.split('.').slice(0, 2).join('.')}.`,
      unsigned: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${anna.split('.')[1]}.`,
    };
    await foreign.close();
    for (const [what, token] of Object.entries(tokens)) {
      const answer = await world.http('/v1/workflows/executions', { token });
      expect([what, answer.status, answer.json()]).toEqual([what, 401, unauthorized]);
    }
    expect((await world.http('/v1/workflows/executions', { token: await forge({}) })).status).toBe(200);
  });

  it.each(['Basic', 'DPoP', 'Token', ''])('ORCH-AUTH-01 the scheme %j is no bearer', async (scheme) => {
    const headers = { authorization: `${scheme} ${anna}`.trim() };
    expect((await world.http('/v1/workflows/executions', { headers })).json()).toEqual(unauthorized);
  });

  it('ORCH-AUTH-01 two Authorization headers are refused, also with the same token', async () => {
    const headers = ['Bearer', 'bearer'].map((scheme) => ['authorization', `${scheme} ${anna}`] as const);
    const answer = await world.http('/v1/workflows/executions', { headers });
    expect([answer.status, answer.json().error]).toEqual([400, 'invalid_request']);
  });
});

describe('operations of other access', () => {
  it('ORCH-AUTH-02 a webhook is known by its signature: a token neither helps nor is asked for', async () => {
    for (const token of [undefined, anna, 'rubbish']) {
      const answer = await world.http('/v1/webhooks/my-ci', { token, body: 'payload' });
      expect([answer.status, answer.json().error]).toEqual([401, 'missing_signature']);
    }
  });

  it('ORCH-AUTH-04 health is for everybody', async () => {
    for (const token of [undefined, anna, 'rubbish']) {
      expect((await world.http('/health', { token })).status).toBe(200);
    }
  });

  it('ORCH-AUTH-03 internal operations have no public path', async () => {
    for (const path of ['/v1/dispatch-gateway', '/metrics', '/ready']) {
      expect((await world.http(path, { token: anna, body: {} })).status).toBe(404);
      expect((await world.http(path, { token: anna })).status).toBe(404);
    }
  });
});

describe('tenants', () => {
  const list = async (bearer: Bearer, headers?: Sending['headers']): Promise<Received> =>
    world.http('/v1/workflows/executions', { token: await world.token(bearer), headers });
  const ids = (answer: Received): unknown[] =>
    answer.json<{ executions: { execution_id: string }[] }>().executions.map(({ execution_id: id }) => id);

  it('a user sees what is in their tenant, and nothing of another', async () => {
    expect(ids(await list({ user: 'anna', tenant: world.tenant }))).toEqual([own.execution]);
    expect(ids(await list({ user: 'olga', tenant: world.otherTenant }))).toEqual([]);
  });

  it('ORCH-AUTH-11 an id of another tenant answers exactly like one that never was', async () => {
    const unknownIds = { workflow: unknownId, execution: unknownId, approval: unknownId, volume: unknownId };
    const withIds = operations.filter(
      ({ path, access }) => access === 'bearer' && /\{(execution_id|workflow|id|volume_id)\}/.test(path),
    );
    expect(withIds.length).toBeGreaterThan(10);
    for (const operation of withIds) {
      const foreign = await world.http(fill(operation, own), sending(operation, olga));
      const unknown = await world.http(fill(operation, unknownIds), sending(operation, olga));
      expect({ id: operation.id, ...visible(foreign) }).toEqual({ id: operation.id, ...visible(unknown) });
    }
    const untouched = await world.http(`/v1/workflows/executions/${own.execution}`, { token: anna });
    expect(untouched.json()).toMatchObject({ status: 'waiting' });
  });

  it('ORCH-AUTH-07 ORCH-AUTH-08 a service account sees the tenant it names, and without a name the system', async () => {
    const ci: Bearer = { serviceAccount: 'ci', tenant: world.tenant };
    expect(ids(await list(ci, { 'x-tenant-id': world.tenant }))).toEqual([own.execution]);
    expect(ids(await list(ci, { 'x-tenant-id': world.otherTenant }))).toEqual([]);
    expect(ids(await list(ci))).not.toContain(own.execution);
  });

  it('AMB-147 a service account that names a tenant which is none is refused; one that does not exist is empty', async () => {
    const ci: Bearer = { serviceAccount: 'ci' };
    for (const named of ['', 'No Tenant', '../x', 'a'.repeat(57)]) {
      const answer = await list(ci, { 'x-tenant-id': named });
      expect([answer.status, answer.json()]).toMatchObject([
        400,
        { error: 'invalid_request', details: [{ path: 'header.x-tenant-id' }] },
      ]);
    }
    expect(ids(await list(ci, { 'x-tenant-id': 'never-was' }))).toEqual([]);
  });

  it.each([[[]], [['svc:operator']], [['svc:admin']]])(
    'ORCH-AUTH-09 for a user with the roles %j the answer is the same whatever tenant is named',
    async (roles) => {
      const user: Bearer = { user: 'otto', tenant: world.otherTenant, roles };
      const without = visible(await list(user));
      for (const named of [world.tenant, 'system', 'No Tenant', '']) {
        expect(visible(await list(user, { 'x-tenant-id': named }))).toEqual(without);
      }
    },
  );

  it('AMB-149 a user without a tenant is refused with 403, on every operation', async () => {
    const token = await world.token({ user: 'nobody' });
    for (const operation of operations.filter(({ access }) => access === 'bearer')) {
      const answer = await world.http(fill(operation, own), sending(operation, token));
      expect([operation.id, answer.status, answer.json().error]).toEqual([operation.id, 403, 'forbidden']);
    }
  });

  it('ORCH-AUTH-01 who cancels is the subject of the token, also for kubectl', async () => {
    const { kube, tenant: namespace } = world;
    const ref = { namespace, name: 'identity-gate-2' };
    await startExecution(kube, ref, { workflow: 'identity-gate' });
    const { metadata } = await waitUntilWaiting(kube, { ...ref, state: 'ask' });
    const answer = await world.http(`/v1/workflows/executions/${metadata.uid}/cancel`, { method: 'POST', token: anna });
    expect(answer.status).toBe(200);
    expect((await kube.get(workflowExecutions, ref)).spec.cancel).toMatchObject({ by: 'anna' });
  });
});

describe('a provider whose keys change, or that stops', () => {
  it('AMB-121 has its new tokens accepted at once by every replica, and the old ones as well', async () => {
    const before = await userToken(world.provider, { name: 'anna', tenant: world.tenant });
    await world.provider.rotate();
    const after = await userToken(world.provider, { name: 'anna', tenant: world.tenant });
    for (const replica of [0, 1]) {
      for (const token of [before, after]) {
        expect((await world.http('/v1/workflows/executions', { token }, replica)).status).toBe(200);
      }
    }
  });

  it('is not needed for tokens whose keys are known', async () => {
    const { issuer, port, keys } = world.provider;
    const fresh = await userToken(world.provider, { name: 'late', tenant: world.tenant });
    await world.provider.close();
    for (const replica of [0, 1]) {
      expect((await world.http('/v1/workflows/executions', { token: fresh }, replica)).status).toBe(200);
    }
    expect(keys.length).toBeGreaterThan(3);
    expect(issuer).toContain(String(port));
  });

  it('is needed by a replica that has just started: 503 until it is back, and health all the while', async () => {
    const [replica] = world.replicas;
    await replica?.kill();
    await replica?.start();
    const answer = await world.http('/v1/workflows/executions', { token: anna });
    expect([answer.status, answer.json().error, answer.headers['retry-after']]).toEqual([503, 'unavailable', '5']);
    expect((await world.http('/health')).status).toBe(200);
    const { port, issuer } = world.provider;
    const again = await startOidc({ port, issuer });
    try {
      const token = await userToken(again, { name: 'anna', tenant: world.tenant });
      await expect
        .poll(async () => (await world.http('/v1/workflows/executions', { token })).status, { timeout: 15_000 })
        .toBe(200);
      // Its keys died with it.
      expect((await world.http('/v1/workflows/executions', { token: anna })).status).toBe(401);
    } finally {
      await again.close();
    }
  });
});

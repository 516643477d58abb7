import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  auditLimits,
  createAuditChain,
  type GatewayEvent,
  keyIdOf,
  pemOf,
  verify,
} from '../../../lib/audit-chain/index.ts';
import { checkpointStream } from '../../../lib/audit-chain/audit-streams.ts';
import { signCheckpoint } from '../../../lib/audit-chain/checkpoint.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { Route } from '../../../lib/http/route.ts';
import { newId } from '../../../lib/ids.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { runCli } from '../../../test/support/cli.ts';
import { startTestServer } from '../../../test/support/http-server.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { bypassOperator, type Operator } from '../../identity/operator.ts';
import { createTenancy } from '../../identity/tenancy.ts';
import { createAuditEventRoutes } from './index.ts';

let nats: TestBus;
let routes: Route<Operator>[] = [];
const appended: GatewayEvent[] = [];
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const former = generateKeyPairSync('ed25519').publicKey;

beforeAll(async () => {
  nats = await startTestBus();
  const bus = nats.connect();
  const chain = createAuditChain({ bus, clock: systemClock, logger: silentLogger, newId, key: privateKey });
  for (const tenant of ['acme', 'other', 'acme', undefined])
    await chain.append({ type: 'SessionCreated', tenant, subject: 'kim', data: {} });
  await chain.append({ type: 'SessionRevoked', tenant: 'acme', subject: 'kim', data: {} });
  await chain.close();
  const audit = {
    append: async (event: GatewayEvent) => void appended.push(event),
    problem: () => undefined,
    close: async () => undefined,
  };
  const tenancy = createTenancy({ audit, tenants: { namespaceOf: () => undefined } });
  routes = createAuditEventRoutes({
    bus,
    clock: systemClock,
    tenancy,
    auditKeys: { signing: pemOf(privateKey), former: [pemOf(former)] },
  });
}, 300_000);
afterAll(() => nats.stop());

const caller = (tenant: string | undefined, isAdmin = false): Operator => ({
  subject: 'kim',
  kind: 'consumer',
  tenant,
  isAdmin,
  scopes: [],
  until: Number.POSITIVE_INFINITY,
});

/** The answer of a route, without the checks of its contract. */
async function ask(path: string, who: Operator, query: object = {}): Promise<Record<string, unknown>> {
  const route = routes.find(({ contract }) => contract.path === path);
  const request = { caller: who, query: { limit: 100, ...query } } as unknown as Parameters<
    NonNullable<typeof route>['handle']
  >[0];
  const reply = (await route?.handle(request)) as unknown as { value: Record<string, unknown> };
  return reply.value;
}

/** The routes over HTTP, for one caller. */
async function served(who: Operator) {
  const server = await startTestServer(routes as never, {
    authenticate: (async () => who) as never,
    tenantOf: (() => who.tenant ?? '') as never,
  });
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() };
}

const events = async (who: Operator, query: object = {}): Promise<Record<string, unknown>[]> =>
  (await ask('/v1/audit-events', who, query))['items'] as Record<string, unknown>[];
const tenantsOf = async (who: Operator, query: object = {}): Promise<unknown[]> =>
  (await events(who, query)).map(({ tenant }) => tenant);

describe('GW-EVT audit events over HTTP', () => {
  it('shows an operator the events of the own tenant, and refuses another', async () => {
    expect(await tenantsOf(caller('acme'))).toEqual(['acme', 'acme', 'acme']);
    expect(await tenantsOf(caller('acme', true))).toEqual(['acme', 'acme', 'acme']);
    expect(await tenantsOf(caller('acme'), { tenant: 'acme' })).toHaveLength(3);
  });

  it.each(['/v1/audit-events', '/v1/audit-checkpoints'])(
    'GW-TEN-04 GW-TEN-07 refuses another tenant at %s with one event, whatever else is wrong with the query',
    async (path) => {
      await using server = await served(caller('acme', true));
      const status = async (query: string): Promise<number> => (await fetch(`${server.url}${path}?${query}`)).status;
      const wrong = [
        'tenant=other',
        'tenant=other&color=red',
        'tenant=acme&tenant=other',
        'limit=x&tenant=other&from=x',
      ];
      for (const query of wrong) {
        appended.length = 0;
        expect([query, await status(query), appended.length]).toEqual([query, 403, 1]);
        expect(appended).toMatchObject([{ type: 'TenantMismatch', data: { asserted_tenant: 'other' } }]);
      }
      appended.length = 0;
      expect([await status('tenant=acme&color=red'), await status('tenant=acme&tenant=acme')]).toEqual([400, 400]);
      expect(await status('tenant=acme')).toBe(200);
      expect(appended).toEqual([]);
    },
  );

  it('shows an administrator without a tenant all, or one', async () => {
    expect(await tenantsOf(caller(undefined, true))).toHaveLength(5);
    expect(await tenantsOf(caller(undefined, true), { tenant: 'other' })).toEqual(['other']);
  });

  it('GW-TEN-03 shows callers without a tenant what is of none, and anonymous callers of the bypass no more', async () => {
    for (const who of [caller(undefined), bypassOperator]) {
      expect(await tenantsOf(who)).toEqual([undefined]);
      const checkpoints = (await ask('/v1/audit-checkpoints', who))['items'] as Record<string, unknown>[];
      expect(checkpoints.filter(({ tenant }) => tenant !== undefined)).toEqual([]);
    }
    await using server = await served(bypassOperator);
    expect((await fetch(`${server.url}/v1/audit-events?tenant=acme`)).status).toBe(403);
  });

  it('filters by type and continues by cursor', async () => {
    expect(await tenantsOf(caller('acme'), { type: 'SessionRevoked' })).toHaveLength(1);
    const first = await ask('/v1/audit-events', caller('acme'), { limit: 2 });
    expect(first['items']).toHaveLength(2);
    expect(await events(caller('acme'), { cursor: first['next_cursor'] })).toHaveLength(1);
    const end = (await ask('/v1/audit-events', caller('acme')))['end_cursor'];
    expect(await events(caller('acme'), { cursor: end })).toHaveLength(0);
    await expect(ask('/v1/audit-events', caller('acme'), { cursor: 'x' })).rejects.toThrow('cursor');
    await expect(ask('/v1/audit-events', caller('acme'), { from: 'yesterday' })).rejects.toThrow('from');
  });

  it('proves chains by all checkpoints, where one page has not all of them', async () => {
    const stream = nats.connect().stream(checkpointStream);
    const key_id = keyIdOf(publicKey);
    const count = auditLimits.pageCheckpoints;
    const append = (index: number): Promise<unknown> => {
      const end = { tenant: `gone-${index}`, lane: 'l0', sequence: 1, hash: 'h', time: '2020-01-01T00:00:00Z' };
      const body = JSON.stringify(signCheckpoint({ ...end, key_id }, privateKey));
      return stream.append({ tenant: end.tenant, key: 'l0', body });
    };
    for (let from = 0; from < count; from += 500)
      await Promise.all(Array.from({ length: 500 }, (_, index) => append(from + index)));
    const admin = caller(undefined, true);
    const first = await ask('/v1/audit-checkpoints', admin);
    expect(first['items']).toHaveLength(count);
    await expect(ask('/v1/audit-checkpoints', admin, { cursor: 'x' })).rejects.toThrow('cursor');
    await using server = await served(admin);
    const env = { WINDLASS_GATEWAY: server.url, WINDLASS_TOKEN: 'admin' };
    const { code, out } = await runCli(['gateway', 'audit', 'verify', '-o', 'json'], env);
    const report = JSON.parse(out) as { gone: unknown[]; chains: { tenant: string; vouched: number }[] };
    expect([code, report.gone.length]).toEqual([0, count]);
    expect(report.chains).toContainEqual(expect.objectContaining({ tenant: 'acme', vouched: 3 }));
  }, 60_000);

  it('gives what proves the events whole', async () => {
    const body = await ask('/v1/audit-checkpoints', caller('acme'));
    expect(body).toMatchObject({ public_key: pemOf(publicKey), former_public_keys: [pemOf(former)] });
    const options = { checkpoints: body['items'] as unknown[], keys: new Map([[keyIdOf(publicKey), publicKey]]) };
    const found = await events(caller('acme'));
    expect(verify(found, options)).toMatchObject({ problems: [], chains: [{ tenant: 'acme', vouched: 3 }] });
    expect(verify(found.slice(0, 2), options).problems).toMatchObject([{ kind: 'cut' }]);
  });
});

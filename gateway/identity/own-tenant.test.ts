import { describe, expect, it } from 'vitest';
import type { GatewayEvent } from '../../lib/audit-chain/index.ts';
import { createRateLimit } from '../../lib/http/rate-limit.ts';
import type { Operator } from './operator.ts';
import { ofOwnTenantInHeader } from './own-tenant.ts';
import { createTenancy } from './tenancy.ts';

const olga: Operator = {
  subject: 'olga',
  kind: 'service-account',
  tenant: 'acme',
  isAdmin: false,
  scopes: [],
  until: Number.POSITIVE_INFINITY,
};

describe('the header X-Tenant-Id of an operator', () => {
  it('GW-TEN-04 GW-TEN-05 GW-TEN-07 may name the tenant of the token; another one is 403, with one TenantMismatch', async () => {
    const events: GatewayEvent[] = [];
    const append = async (event: GatewayEvent): Promise<void> => void events.push(event);
    const audit = { append, problem: () => undefined, close: async () => undefined };
    const tenancy = createTenancy({ audit, tenants: { namespaceOf: (slug) => `tenant-${slug}` } });
    const rate = createRateLimit(1);
    const own = { tenancy, take: async ({ tenant = '' }: Operator) => rate.take(tenant) };
    expect(await ofOwnTenantInHeader(own, olga, {})).toBe(olga);
    expect(await ofOwnTenantInHeader(own, olga, { 'x-tenant-id': '' })).toBe(olga);
    expect(await ofOwnTenantInHeader(own, olga, { 'x-tenant-id': 'acme' })).toBe(olga);
    expect(events).toEqual([]);
    const other = () => ofOwnTenantInHeader(own, olga, { 'x-tenant-id': 'rival' });
    await expect(other()).rejects.toMatchObject({ code: 'forbidden' });
    expect(events).toMatchObject([
      { type: 'TenantMismatch', data: { subject: 'olga', asserted_tenant: 'rival', expected_tenant: 'acme' } },
    ]);
    // Ten a window here: no tenant fills the store of all with mismatches.
    for (let more = 1; more < 10; more++) await expect(other()).rejects.toMatchObject({ code: 'forbidden' });
    await expect(other()).rejects.toMatchObject({ code: 'limit_exceeded' });
    expect(events).toHaveLength(10);
  });
});

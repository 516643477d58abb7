import { describe, expect, it } from 'vitest';
import type { GatewayEvent } from '../../lib/audit-chain/index.ts';
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
    expect(await ofOwnTenantInHeader(tenancy, olga, {})).toBe(olga);
    expect(await ofOwnTenantInHeader(tenancy, olga, { 'x-tenant-id': 'acme' })).toBe(olga);
    expect(events).toEqual([]);
    const other = ofOwnTenantInHeader(tenancy, olga, { 'x-tenant-id': 'rival' });
    await expect(other).rejects.toMatchObject({ code: 'forbidden' });
    expect(events).toMatchObject([
      { type: 'TenantMismatch', data: { subject: 'olga', asserted_tenant: 'rival', expected_tenant: 'acme' } },
    ]);
  });
});

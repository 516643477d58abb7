import { globalNamespace } from '../../crds/labels.ts';
import type { AuditChain } from '../../lib/audit-chain/index.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { mismatch } from '../../lib/tenant/mismatch.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { visiblePlaces } from '../../lib/tenant/visible-places.ts';
import type { Operator } from './operator.ts';

/** The fields of an operator that say for which tenant a call is. */
export type TenantCaller = Pick<Operator, 'subject' | 'tenant' | 'isAdmin'>;

/** Keeps each operator to the tenant of its token (spec 3 §5.4). */
export interface Tenancy {
  /**
   * Takes the tenant that a payload names at `place`, by default in `tenant_id` or `X-Tenant-Id`; absent is right.
   * @throws HttpError 403 for another tenant, after one event TenantMismatch (requirements AMB-123); AppError
   * `unavailable` where the event cannot be stored.
   */
  assertOwn(caller: TenantCaller, asserted: string | undefined, place?: AssertedPlace): Promise<void>;
  /**
   * Namespace that a caller writes to.
   * @throws HttpError 404 for a tenant that is not set up, 403 without a tenant and without the role svc:admin.
   */
  namespaceOf(caller: TenantCaller): string;
  /**
   * Namespaces whose objects a tenant sees, its own first. Shared objects are in a namespace of no tenant: that of the
   * tenant `system` is as private as any other (GW-TEN-08).
   */
  visibleTo(tenant: string | undefined): readonly string[];
}

/** A part of a request that names a tenant. */
type AssertedPlace = 'tenant_id' | 'security_token';

const foreign: Readonly<Record<AssertedPlace, (asserted: string) => string>> = {
  tenant_id: () => 'tenant_id or X-Tenant-Id names another tenant than the token; leave it out',
  security_token: (asserted) =>
    `body.security_token is for the tenant ${asserted}, which is another than that of your own token; take one from POST ` +
    '/v1/seal/tokens with that token',
};

interface TenancyDeps {
  readonly audit: AuditChain;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
}

export function createTenancy({ audit, tenants }: TenancyDeps): Tenancy {
  return {
    async assertOwn({ subject, tenant }, asserted, place = 'tenant_id') {
      if (asserted === undefined || asserted === tenant) return;
      await audit.append(mismatch({ subject, asserted, expected: tenant }));
      throw new HttpError({
        code: 'forbidden',
        message: foreign[place](asserted),
      });
    },
    namespaceOf({ tenant, isAdmin }) {
      if (tenant === undefined && isAdmin) return globalNamespace;
      if (tenant === undefined)
        throw new HttpError({
          code: 'forbidden',
          message: 'the token names no tenant; the provider must set the claim tenant_id',
        });
      const namespace = tenants.namespaceOf(tenant);
      if (namespace !== undefined) return namespace;
      throw new HttpError({
        code: 'not_found',
        message: `tenant ${tenant} is not set up; make it with windlass tenant create ${tenant}`,
      });
    },
    visibleTo(tenant) {
      return visiblePlaces(tenant === undefined ? undefined : tenants.namespaceOf(tenant));
    },
  };
}

import { AppError } from '../errors.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** The slug of the tenant that owns a namespace. @throws AppError `NotATenant` where none does, or none any more. */
export function requireTenant(tenants: Pick<TenantDirectory, 'tenantOf'>, namespace: string): string {
  const tenant = tenants.tenantOf(namespace);
  if (tenant !== undefined) return tenant;
  throw new AppError('forbidden', `the namespace ${namespace} is no tenant`, { reason: 'NotATenant' });
}

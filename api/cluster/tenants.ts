export type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';

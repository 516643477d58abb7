export type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
export { type Cluster, createCluster } from './cluster.ts';
export type { Executions, Reserve } from './executions.ts';
export type { Informers } from './informers.ts';
export type { TenantObjects } from './tenant-objects.ts';
export type { Viewer, Workflows } from './workflows.ts';

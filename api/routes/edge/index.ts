import type { Contract } from '../../../lib/http/contract.ts';
import type { Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import { issueEnrollmentToken } from './enrollment-tokens/contract.ts';
import { createIssueRoute, type IssueDeps } from './enrollment-tokens/index.ts';
import { contracts as fleetContracts } from './fleet/contract.ts';
import { createFleetRoutes } from './fleet/index.ts';
import type { FleetDeps } from './fleet/ports.ts';
import { contracts as groupContracts } from './groups/contract.ts';
import { createGroupRoutes } from './groups/index.ts';
import { contracts as hostContracts } from './hosts/contract.ts';
import { createHostRoutes } from './hosts/index.ts';
import type { OrderDeps } from './hosts/orders.ts';
import type { RecentDeps } from './hosts/recent.ts';
import type { WriteGroupDeps } from './groups/write.ts';

export const contracts: readonly Contract[] = [
  issueEnrollmentToken,
  ...hostContracts,
  ...groupContracts,
  ...fleetContracts,
];

export interface EdgeRoutesDeps
  extends Omit<IssueDeps, 'tenants' | 'clock'>,
    WriteGroupDeps,
    FleetDeps,
    Omit<RecentDeps, 'clock'>,
    Pick<OrderDeps, 'hostCommands'> {
  readonly kube: WriteGroupDeps['kube'] & FleetDeps['kube'];
  readonly cluster: Pick<Cluster, 'tenants' | 'edgeHosts' | 'edgeGroups' | 'fleetRuns'>;
}

/** Routes of edge hosts, their groups, and runs over them (spec 2 §4). */
export function createEdgeRoutes(deps: EdgeRoutesDeps): Route<Caller>[] {
  return [
    createIssueRoute({ ...deps, tenants: deps.cluster.tenants }),
    ...createHostRoutes(deps),
    ...createGroupRoutes(deps),
    ...createFleetRoutes(deps),
  ];
}

import type { Contract } from '../../../lib/http/contract.ts';
import type { Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { approveHumanApproval, listHumanApprovals, readHumanApproval, rejectHumanApproval } from './contract.ts';
import { createDecideRoutes, type DecideDeps } from './decide.ts';
import { createListRoute, createReadRoute, type ReadDeps } from './read.ts';

export const contracts: readonly Contract[] = [
  listHumanApprovals,
  readHumanApproval,
  approveHumanApproval,
  rejectHumanApproval,
];

/** Routes of what waits for people (spec 1 §4.3). */
export function createHumanApprovalRoutes(deps: ReadDeps & DecideDeps): Route<Caller>[] {
  return [createListRoute(deps), createReadRoute(deps), ...createDecideRoutes(deps)];
}

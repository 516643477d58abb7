import type { Contract } from '../../../lib/http/contract.ts';
import { approveHumanApproval, listHumanApprovals, readHumanApproval, rejectHumanApproval } from './contract.ts';

export const contracts: readonly Contract[] = [
  listHumanApprovals,
  readHumanApproval,
  approveHumanApproval,
  rejectHumanApproval,
];

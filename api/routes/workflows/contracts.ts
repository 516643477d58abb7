import type { Contract } from '../../../lib/http/contract.ts';
import {
  deleteWorkflow,
  demoteWorkflow,
  listWorkflows,
  listWorkflowVersions,
  promoteWorkflow,
  readWorkflow,
  registerWorkflow,
} from './contract.ts';

export const contracts: readonly Contract[] = [
  registerWorkflow,
  listWorkflows,
  readWorkflow,
  listWorkflowVersions,
  deleteWorkflow,
  promoteWorkflow,
  demoteWorkflow,
];

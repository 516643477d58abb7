import { rerunExecution, retryExecution } from './again/contract.ts';
import { cancelExecution } from './cancel/contract.ts';
import { deleteExecution } from './delete/contract.ts';
import { listExecutions } from './list/contract.ts';
import { readExecutionLogs } from './logs/contract.ts';
import { readExecution } from './read/contract.ts';
import { signalExecution } from './signal/contract.ts';
import { startExecution } from './start/contract.ts';
import { streamExecution } from './stream/contract.ts';

/** Every operation on executions, as data alone. */
export const contracts = [
  startExecution,
  listExecutions,
  readExecution,
  cancelExecution,
  signalExecution,
  streamExecution,
  readExecutionLogs,
  rerunExecution,
  retryExecution,
  deleteExecution,
] as const;

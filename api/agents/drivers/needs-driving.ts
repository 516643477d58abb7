import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';

/** Whether an execution has begun and has no outcome yet. */
export const needsDriving = ({ metadata, spec, status }: AgentExecution): boolean =>
  (status?.phase === 'running' || status?.phase === 'waiting') &&
  status.agent !== undefined &&
  spec.result === undefined &&
  spec.cancel === undefined &&
  metadata.deletionTimestamp === undefined;

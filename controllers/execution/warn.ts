import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { engineLimits } from './limits.ts';

/** Adds warnings to a status, which keeps the newest. */
export function warn(status: WorkflowExecutionStatus, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  status.warnings = [...(status.warnings ?? []), ...warnings].slice(-engineLimits.warnings);
}

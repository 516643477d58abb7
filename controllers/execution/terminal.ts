import type { Phase } from '../../crds/schema/workflow-execution-status.ts';

/** Whether an execution has ended, one way or another. */
export const isTerminal = ({ phase }: { readonly phase: Phase }): boolean =>
  phase === 'completed' || phase === 'failed' || phase === 'cancelled';

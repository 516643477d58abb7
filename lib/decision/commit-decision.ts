import type { Signal, WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Gate } from './gate.ts';
import { type HumanDecision, signalFor } from './human-decision.ts';
import { type ExecutionWriter, updateExecution } from './update-execution.ts';

/**
 * Records the decision, if `gate` lets it pass. One of several at the same time wins; the others throw an error that
 * names the winner.
 */
export async function commitDecision(
  kube: ExecutionWriter,
  execution: WorkflowExecution,
  decision: HumanDecision,
  gate: Gate,
): Promise<Signal> {
  let written: Signal | undefined;
  await updateExecution(kube, execution, async (latest) => {
    written = signalFor(latest, decision);
    await gate(latest, written);
    return { signals: [...(latest.spec.signals ?? []), written] };
  });
  return written ?? signalFor(execution, decision);
}

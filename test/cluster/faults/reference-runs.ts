import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import {
  ensureWorkflow,
  sendSignal,
  startExecution,
  waitUntilFinished,
  waitUntilWaiting,
} from '../harness/executions.ts';
import { endState } from './end-state.ts';
import { calledWorkflows, type Reference, references } from './reference-workflows.ts';

/** Starts reference workflows in one namespace and plays the person who answers their gates. */
export interface ReferenceRuns {
  register(): Promise<void>;
  /** Starts one execution and resolves when it has ended; its gate, if any, is answered with yes. */
  run(reference: Reference, name: string, timeoutMs?: number): Promise<WorkflowExecution>;
  /** One run of each reference at the same time; their end states by the references' names. */
  runAll(prefix: string, timeoutMs?: number): Promise<Readonly<Record<string, unknown>>>;
}

export function createReferenceRuns(kube: KubeClient, namespace: string): ReferenceRuns {
  const runs: ReferenceRuns = {
    async register() {
      for (const workflow of [...calledWorkflows, ...references.map((reference) => reference.workflow)]) {
        await ensureWorkflow(kube, { ...workflow, metadata: { ...workflow.metadata, namespace } });
      }
    },
    async run(reference, name, timeoutMs = 120_000) {
      const ref = { namespace, name };
      await startExecution(kube, ref, { ...reference.spec, workflow: reference.workflow.metadata.name });
      if (reference.gate !== undefined) {
        const { gate } = reference;
        await waitUntilWaiting(kube, { ...ref, state: gate }, { timeoutMs });
        await sendSignal(kube, ref, { id: `${gate}-1`, state: gate, response: 'yes', feedback: 'more' });
      }
      return waitUntilFinished(kube, ref, { timeoutMs });
    },
    async runAll(prefix, timeoutMs) {
      const ends = await Promise.all(
        references.map(async (reference) => {
          const ended = await runs.run(reference, `${prefix}-${reference.name}`, timeoutMs);
          return [reference.name, endState(ended)] as const;
        }),
      );
      return Object.fromEntries(ends);
    },
  };
  return runs;
}

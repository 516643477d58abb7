import { expect, it } from 'vitest';
import type { Volume } from '../../crds/schema/volume.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createCache } from '../../lib/informer/cache.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { createManualClock } from '../../lib/manual-clock.ts';
import { anExecution, begin } from '../../test/builders/execution-builder.ts';
import { createBlocked } from './blocked.ts';
import { createExecutionReconcile, type ExecutionDeps } from './reconcile.ts';

/** What an execution whose workflow is not there waits for once it was looked at. */
async function waitsFor(execution: WorkflowExecution): Promise<string[]> {
  const waits: string[] = [];
  const none = () => [];
  const caches = {
    executions: createCache<WorkflowExecution, 'parentUid' | 'workflow'>({
      indexes: { parentUid: none, workflow: none },
    }),
    pods: createCache<Pod, 'executionUid' | 'executionKey'>({ indexes: { executionUid: none, executionKey: none } }),
    volumes: createCache<Volume>(),
  };
  caches.executions.replaceAll([execution], '5');
  const failure = { reason: 'WorkflowNotFound', message: 'why' } as const;
  const lookup = async () => ({ kind: 'absent', failure }) as const;
  const settings = { executionTtlSeconds: 3_600 };
  const deps: Partial<ExecutionDeps> = {
    kube: { jsonPatchStatus: async () => execution } as never,
    clock: createManualClock(begin),
    caches,
    wholes: { whole: async (one) => one, use: (one, task) => task(one) },
    observe: { caches, outcomeOf: () => undefined, rejectedPods: () => [], settings },
    apply: {} as never,
    findWorkflow: { current: lookup, pinned: lookup },
    isEnding: () => false,
    events: { record: () => undefined, flush: async () => undefined },
    onWaiting: (key, awaited) => void waits.push(`${key} ${awaited}`),
    blocked: createBlocked(),
    onFinished: () => undefined,
    onEnded: () => undefined,
  };
  await createExecutionReconcile(deps as ExecutionDeps)('default/x');
  return waits;
}

it('an execution waits for its workflow until it has ended, and never after', async () => {
  expect(await waitsFor(anExecution('x').build())).toEqual(['default/x demo']);
  expect(await waitsFor(anExecution('x').ended('failed', 0).build())).toEqual([]);
});

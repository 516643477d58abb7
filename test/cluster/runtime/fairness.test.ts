import { afterEach, beforeEach, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { anEnd, anUpdate, aWorkflow } from '../../builders/workflow-builder.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { openStage, type Stage } from '../harness/stage.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';

const many = 800;
/** Creates under way at once. */
const creators = 32;

/** Five states without a process: all that such an execution costs is the controllers' time. */
const podless = aWorkflow('podless')
  .state('one', anUpdate({ a: '1' }, 'two'))
  .state('two', anUpdate({ b: '2' }, 'three'))
  .state('three', anUpdate({ c: '3' }, 'four'))
  .state('four', anUpdate({ d: '4' }, 'end'))
  .state('end', anEnd())
  .build();

let stage: Stage;
let quiet: TestNamespace;

beforeEach(async () => {
  stage = await openStage('busy');
  quiet = await makeTestNamespace(stage.kube, 'quiet');
});

afterEach(async () => {
  await quiet?.remove();
  await stage?.strike();
});

const start = (namespace: string, name: string) =>
  startExecution(stage.kube, { namespace, name }, { workflow: 'podless' });

async function startMany(): Promise<void> {
  let next = 0;
  const startNext = async (): Promise<void> => {
    for (let number = next++; number < many; number = next++) await start(stage.namespace, `x${number}`);
  };
  await Promise.all(Array.from({ length: creators }, startNext));
}

it('one tenant with 800 executions to run does not hold up another', async () => {
  for (const namespace of [stage.namespace, quiet.name]) {
    await ensureWorkflow(stage.kube, { ...podless, metadata: { ...podless.metadata, namespace } });
  }
  // No worker runs yet: at the start all of them are due in the same moment, those of the busy tenant first.
  await startMany();
  await start(quiet.name, 'only');
  await stage.controllers(await stage.proxy('api'));
  const only = await waitUntilFinished(stage.kube, { namespace: quiet.name, name: 'only' }, { timeoutMs: 150_000 });
  const { items } = await stage.kube.listAll(workflowExecutions, { namespace: stage.namespace });
  expect(items).toHaveLength(many);
  // Whose turn it was, not how long the machine took: a tenth is more than all the workers had begun.
  const end = endOf(only);
  expect(items.filter((item) => endOf(item) < end).length).toBeLessThan(many / 10);
});

/** Milliseconds since the epoch; never, where it has not ended. */
function endOf({ status }: WorkflowExecution): number {
  return status?.finished_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(status.finished_at);
}

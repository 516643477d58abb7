import { afterAll, beforeAll, expect, it } from 'vitest';
import { anEnd, anUpdate, aWorkflow } from '../../builders/workflow-builder.ts';
import { ensureWorkflow, isFinished, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';
import { type UsedControllers, useControllers } from '../harness/used-controllers.ts';
import { waitForView } from '../harness/wait.ts';

const many = 2_000;
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

let busy: UsedControllers;
let quiet: TestNamespace;

beforeAll(async () => {
  busy = await useControllers('busy');
  quiet = await makeTestNamespace(busy.kube, 'quiet');
});

afterAll(async () => {
  await quiet?.remove();
  await busy?.release();
});

const workflowIn = (namespace: string) =>
  ensureWorkflow(busy.kube, { ...podless, metadata: { ...podless.metadata, namespace } });

/** Milliseconds from before the create until a watch shows the end. */
async function timeOne(name: string): Promise<number> {
  const ref = { namespace: quiet.name, name };
  const begun = performance.now();
  await startExecution(busy.kube, ref, { workflow: 'podless' });
  await waitUntilFinished(busy.kube, ref, { timeoutMs: 120_000 });
  return performance.now() - begun;
}

async function createBacklog(): Promise<void> {
  let next = 0;
  const create = async (): Promise<void> => {
    for (let number = next++; number < many; number = next++) {
      await startExecution(busy.kube, { namespace: busy.namespace, name: `x${number}` }, { workflow: 'podless' });
    }
  };
  await Promise.all(Array.from({ length: creators }, create));
}

const backlog = () => ({ resource: workflowExecutions, namespace: busy.namespace });

it('one tenant with 2,000 executions to run does not hold up another', async () => {
  await workflowIn(quiet.name);
  await timeOne('first');
  const alone = await timeOne('alone');
  // Without their workflow they all wait; when it comes all of them are due in the same moment.
  await createBacklog();
  await workflowIn(busy.namespace);
  await waitForView(busy.kube, backlog(), (view) => ([...view.values()].some(isFinished) ? true : undefined));
  const beside = await timeOne('beside');
  const { items } = await busy.kube.listAll(workflowExecutions, { namespace: busy.namespace });
  const done = items.filter(isFinished).length;
  console.info(`alone ${Math.round(alone)} ms, beside ${Math.round(beside)} ms, ${done} of ${many} done`);
  expect(done).toBeLessThan(many / 2);
});

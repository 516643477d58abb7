import { executionAgain } from '../../../lib/execution/execution-again.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { anEnd, aQuestion, aScript, aWorkflow, busybox, thenGoTo } from '../../builders/workflow-builder.ts';
import {
  createExecution,
  ensureWorkflow,
  sendSignal,
  startExecution,
  waitUntilFinished,
  waitUntilWaiting,
} from '../harness/executions.ts';
import { workflowExecutions } from '../harness/kinds.ts';
import { waitForNone } from '../harness/wait.ts';
import { compressible, type Place, twoMebibytes } from './large-outputs.ts';

/** Steps of a state, which write 2 MiB each: as much as one state may write. */
const stepsOfState = 3;

/** States that write 6 MiB each, a person who is asked, and a step that reads what the first and the last wrote. */
function wide(name: string, states: number): Workflow {
  const read = [0, states - 1].map((index) => `{{length many${index}.output.s1.stdout}}`);
  const steps = Array.from({ length: stepsOfState }, (_, index) => ({
    name: `s${index}`,
    image: busybox,
    command: ['sh', '-c', twoMebibytes(compressible)],
  }));
  const builder = aWorkflow(name).with({ output_template: { read: '{{check.output.stdout}}' } });
  for (let index = 0; index < states; index += 1) {
    const next = index + 1 === states ? 'ask' : `many${index + 1}`;
    builder.state(`many${index}`, { kind: 'ParallelContainerRun', steps, transitions: thenGoTo(next) });
  }
  return builder
    .state('ask', aQuestion('Go on?', { yes: 'check', no: 'end' }))
    .state('check', aScript('echo "$READ"', { env: { READ: read.join(' ') }, next: 'end' }))
    .state('end', anEnd())
    .build();
}

/**
 * Runs states that store 6 MiB each, cancels, retries from the state behind them, deletes the origin and lets the
 * retry read what the origin stored. `whileAlone` is called once the origin is gone. Gives the retry back as it ended.
 */
export async function retryWithoutOrigin(
  { kube, namespace }: Place,
  { name, states }: { readonly name: string; readonly states: number },
  whileAlone: (origin: WorkflowExecution, successor: WorkflowExecution) => Promise<void>,
): Promise<WorkflowExecution> {
  const workflow = wide(name, states);
  await ensureWorkflow(kube, { ...workflow, metadata: { name, namespace } });
  const ref = { namespace, name };
  await startExecution(kube, ref, { workflow: name });
  await waitUntilWaiting(kube, { ...ref, state: 'ask' }, { timeoutMs: 300_000 });
  const cancel = { by: (await kube.whoAmI()).username, at: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
  await kube.mergePatch(workflowExecutions, ref, { spec: { cancel } });
  const origin = await waitUntilFinished(kube, ref);
  const next = { namespace, name: `${name}-again` };
  await createExecution(kube, executionAgain(origin, { name: next.name, from: 'ask' }));
  const successor = await waitUntilWaiting(kube, { ...next, state: 'ask' });
  await kube.delete(workflowExecutions, ref, { propagation: 'Background' });
  await waitForNone(kube, { resource: workflowExecutions, namespace, fieldSelector: `metadata.name=${name}` });
  await whileAlone(origin, successor);
  await sendSignal(kube, next, { state: 'ask', response: 'yes' });
  return waitUntilFinished(kube, next);
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEnd, anUpdate, aWorkflow } from '../../builders/workflow-builder.ts';
import { startExecution, waitUntilFinished } from '../harness/executions.ts';
import { workflows } from '../harness/kinds.ts';
import { type UsedControllers, useControllers } from '../harness/used-controllers.ts';

/**
 * The attacker makes an execution so large that etcd has no room for what it is about to write. The state fails with the API
 * server's words: what the controllers may not write they never write again and again.
 */
describe('an execution whose status the API server refuses', () => {
  let used: UsedControllers;

  beforeAll(async () => {
    used = await useControllers('refused-status');
  });
  afterAll(() => used?.release());

  it('fails its state, says why and ends', async () => {
    const values = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, 'x'.repeat(2_000)]));
    const workflow = aWorkflow('large').state('fill', anUpdate(values, 'end')).state('end', anEnd()).build();
    await used.kube.create(workflows, { ...workflow, metadata: { ...workflow.metadata, namespace: used.namespace } });
    const ref = { namespace: used.namespace, name: 'large' };
    // etcd takes 1.5 MiB: this leaves room for a few kilobytes of status and not for the values.
    await startExecution(used.kube, ref, { workflow: 'large', input: { text: 'x'.repeat(1_500_000) } });
    const { status } = await waitUntilFinished(used.kube, ref, { timeoutMs: 60_000 });
    // The state whose values do not fit fails; its rule leads on.
    expect(status).toMatchObject({
      phase: 'completed',
      history: [{ state: 'fill', reason: 'Refused' }, { state: 'end' }],
    });
    expect(status?.history?.[0]?.message).toContain('the API server refused the status');
  });
});

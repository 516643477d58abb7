import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { StimulusRouter } from '../../../crds/schema/stimulus-router.ts';
import { agents, stimulusRouters } from '../../../lib/kinds.ts';
import { type KubeClient } from '../../../lib/kube/index.ts';
import { anEnd, aWorkflow } from '../../builders/workflow-builder.ts';
import { connect } from '../harness/cluster.ts';
import { waitUntilFinished } from '../harness/executions.ts';
import { workflowExecutions, workflows } from '../harness/kinds.ts';
import { type InstalledApi, openInstalledApi } from '../harness/installed-api.ts';
import { waitForObject } from '../harness/wait.ts';

const namespace = 'tenant-demo';
const id = Date.now().toString(36);

/** Needs the installation of dev/demo/install, whose scripted model answers the instruction of the agent `triage`. */
describe('router agents, through the whole system', () => {
  let kube: KubeClient;
  let api: InstalledApi;

  beforeAll(async () => {
    ({ kube } = await connect());
    api = await openInstalledApi('anna');
    await kube.apply(workflows, inTenant(aWorkflow('urgent-tickets').state('done', anEnd()).build()), apply);
    await kube.apply(agents, triage, apply);
    await kube.apply(stimulusRouters, asking, apply);
    await waitForObject(kube, { resource: stimulusRouters, namespace, name: asking.metadata.name }, isReady);
  }, 120_000);

  afterAll(async () => {
    await kube.delete(stimulusRouters, { namespace, name: asking.metadata.name });
    await api.close();
  });

  const apply = { fieldManager: 'test', force: true };
  const inTenant = <T extends { readonly metadata: object }>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  });
  const triage: Agent = {
    apiVersion: 'windlass.dev/v1',
    kind: 'Agent',
    metadata: { name: 'triage', namespace },
    spec: {
      version: '1.0.0',
      runtime: { model: 'default' },
      task: { instruction: 'You route events to workflows. {{intent}}' },
      execution: { max_iterations: 1 },
    },
  };
  const asking: StimulusRouter = {
    apiVersion: 'windlass.dev/v1',
    kind: 'StimulusRouter',
    metadata: { name: `asking-${id}`, namespace },
    spec: { router_agent: 'triage' },
  };
  const isReady = ({ status }: StimulusRouter): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;

  async function submit(content: string): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${api.server}/v1/stimuli`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ source: `tickets-${id}`, content }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  it('ROUTE-12 ROUTE-14 start the workflow that the agent chooses', async () => {
    const { status, body } = await submit('The shop is down.');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ workflow_execution_id: expect.any(String) as string }),
    ]);
    const { items } = await kube.listAll(workflowExecutions, { namespace });
    const started = items.find(({ metadata }) => metadata.uid === body['workflow_execution_id']);
    const ended = await waitUntilFinished(kube, { namespace, name: started?.metadata.name ?? '' });
    expect([ended.spec.workflow, ended.status?.phase]).toEqual(['urgent-tickets', 'completed']);
  });

  it('ROUTE-15 STIM-32 start nothing where the agent is not sure', async () => {
    expect(await submit('Lovely weather.')).toMatchObject({ status: 422, body: { error: 'classification_failed' } });
  });

  it('ROUTE-16 start nothing where the agent answers in another form', async () => {
    expect(await submit('Gibberish, please.')).toMatchObject({ status: 422, body: { error: 'classification_failed' } });
  });
});

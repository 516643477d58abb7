import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent, AgentSpec } from '../../../crds/schema/agent.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { controllerRevisions, type KubeClient } from '../../../lib/kube/index.ts';
import { isRevisionOf, storedRevision, versionOf } from '../../../lib/registration/index.ts';
import { agents } from '../harness/kinds.ts';
import { type UsedControllers, useControllers } from '../harness/used-controllers.ts';
import { waitForNone, waitForObject } from '../harness/wait.ts';

describe('agents as kubectl writes them', () => {
  let used: UsedControllers;
  let kube: KubeClient;
  let namespace: string;

  beforeAll(async () => {
    used = await useControllers('agent-defs');
    ({ kube, namespace } = used);
  });
  afterAll(() => used?.release());

  const agent = (name: string, spec: Partial<AgentSpec> = {}, annotations?: Record<string, string>): Agent => ({
    apiVersion: 'windlass.dev/v1',
    kind: 'Agent',
    metadata: { name, namespace, ...(annotations && { annotations }) },
    spec: { version: '1.0.0', runtime: { model: 'default' }, task: { instruction: 'Work on {{input}}.' }, ...spec },
  });
  const create = (name: string, spec: Partial<AgentSpec> = {}): Promise<Agent> =>
    kube.create(agents, agent(name, spec));
  const change = (name: string, spec: Partial<AgentSpec>, annotations: Record<string, string> = {}): Promise<Agent> =>
    kube.mergePatch(agents, { namespace, name }, { metadata: { annotations }, spec });
  const judged = (name: string): Promise<Agent> =>
    waitForObject(kube, { resource: agents, namespace, name }, ({ metadata, status }) =>
      (status?.conditions ?? []).some(({ observedGeneration = 0 }) => observedGeneration === metadata.generation),
    );
  const verdict = async (name: string) => (await judged(name)).status?.conditions?.[0];

  it('AGENT-10 each version is kept as a revision, and the status lists them, the newest first', async () => {
    await create('versions');
    const first = await judged('versions');
    await change('versions', { version: '1.1.0', description: 'newer' });
    const { status } = await judged('versions');
    expect(status?.versions?.map(({ version }) => version)).toEqual(['1.1.0', '1.0.0']);
    const revision = await storedRevision(kube, first, '1.0.0');
    expect(revision && [isRevisionOf(first, revision), versionOf(revision)]).toEqual([true, '1.0.0']);
  });

  it('AGENT-10 a version keeps its content without force', async () => {
    await create('fixed');
    await judged('fixed');
    await expect(change('fixed', { description: 'other' })).rejects.toThrow(/1\.0\.0 exists with other content/);
    await change('fixed', { description: 'other' }, { 'windlass.dev/force': 'true' });
    expect(await verdict('fixed')).toMatchObject({ status: 'True', reason: 'Accepted' });
  });

  it('AGENT-13 a model that is not known is accepted, and none as well, with and without a runtime', async () => {
    await create('unknown-model', { runtime: { model: 'of-tomorrow' } });
    expect(await verdict('unknown-model')).toMatchObject({ reason: 'Accepted' });
    const { runtime: _, ...spec } = agent('no-runtime').spec;
    for (const [name, given] of Object.entries({ 'no-model': { ...spec, runtime: {} }, 'no-runtime': spec })) {
      const { spec: kept } = await kube.create(agents, { ...agent(name), spec: given });
      expect(kept).toEqual(given);
      expect(await verdict(name)).toMatchObject({ reason: 'Accepted' });
    }
  });

  it('AGENT-14 a template that cannot be parsed is refused with its place', async () => {
    await create('broken', { task: { instruction: '{{#if}}' } });
    const condition = await verdict('broken');
    expect(condition).toMatchObject({ status: 'False', reason: 'InvalidDefinition' });
    expect(condition?.message).toMatch(/^spec\.task\.instruction: /);
  });

  it('AGENT-10 a mistake that was never accepted is mended under its version, which keeps its content from then on', async () => {
    await create('mended', { task: { instruction: '{{#if}}' } });
    expect(await verdict('mended')).toMatchObject({ reason: 'InvalidDefinition' });
    await change('mended', { task: { instruction: 'Work.' } });
    expect(await verdict('mended')).toMatchObject({ status: 'True', reason: 'Accepted' });
    await expect(change('mended', { description: 'other' })).rejects.toThrow(/1\.0\.0 exists with other content/);
  });

  it('AMB-016 no agent has a name in the form of an id', async () => {
    await expect(create('0b9f2c1e-1111-4222-8333-444455556661')).rejects.toThrow(/form of an id/);
  });

  it('ADR 0127 neither an agent nor an execution of one may take more than seven days', async () => {
    const refused = /timeout.*of 168h \(7 days\) at most/;
    await expect(create('longest', { execution: { timeout: '168h' } })).resolves.toBeDefined();
    await expect(create('longer', { execution: { timeout: '604801s' } })).rejects.toThrow(refused);
    const run = (name: string, timeout: string) =>
      kube.create(agentExecutions, {
        apiVersion: 'windlass.dev/v1',
        kind: 'AgentExecution',
        metadata: { name, namespace },
        spec: { agent: 'longest', timeout },
      });
    await expect(run('longest', '10080m')).resolves.toBeDefined();
    await expect(run('longer', '169h')).rejects.toThrow(refused);
  });

  it('the revisions of an agent go with it', async () => {
    const { metadata } = await create('gone');
    await judged('gone');
    await kube.delete(agents, { namespace, name: 'gone' });
    const labelSelector = `windlass.dev/agent-uid=${metadata.uid}`;
    await waitForNone(kube, { resource: controllerRevisions, namespace, labelSelector });
    expect((await kube.listAll(controllerRevisions, { namespace, labelSelector })).items).toEqual([]);
  });
});

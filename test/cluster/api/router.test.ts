import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StimulusRouter, StimulusRouterSpec } from '../../../crds/schema/stimulus-router.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { anEnd, aWorkflow } from '../../builders/workflow-builder.ts';
import { stimulusRouters, workflows } from '../harness/kinds.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';
import { type UsedControllers, useControllers } from '../harness/used-controllers.ts';
import { waitForObject } from '../harness/wait.ts';

let used: UsedControllers;
let kube: KubeClient;
let other: TestNamespace;

beforeAll(async () => {
  used = await useControllers('router');
  kube = used.kube;
  other = await makeTestNamespace(kube, 'router-other');
  for (const namespace of [used.namespace, other.name]) await define('build', namespace);
});

afterAll(async () => {
  await other?.remove();
  await used?.release();
});

async function define(name: string, namespace: string): Promise<void> {
  const workflow = aWorkflow(name).state('done', anEnd()).build();
  await kube.create(workflows, { ...workflow, metadata: { name, namespace } });
}

/** Sources are claimed in the whole cluster: each test has some of its own. */
const aSource = (): string => `test-${randomBytes(4).toString('hex')}`;

const objectOf = (name: string, spec: unknown, namespace = used.namespace): StimulusRouter => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'StimulusRouter',
  metadata: { name, namespace },
  spec: spec as StimulusRouterSpec,
});

const create = (name: string, spec: StimulusRouterSpec, namespace?: string): Promise<StimulusRouter> =>
  kube.create(stimulusRouters, objectOf(name, spec, namespace));

/** The router once its condition says so. */
function withReason(name: string, reason: string, namespace = used.namespace): Promise<StimulusRouter> {
  const says = ({ metadata, status }: StimulusRouter): boolean =>
    status?.observedGeneration === metadata.generation && status?.conditions?.[0]?.reason === reason;
  const what = `${name} to say ${reason}`;
  return waitForObject(kube, { resource: stimulusRouters, namespace, name }, says, { timeoutMs: 30_000, what });
}

const claimsOf = ({ status }: StimulusRouter): string[] => (status?.claims ?? []).map(({ source }) => source);

describe('the API server', () => {
  const submit = (spec: unknown): Promise<unknown> =>
    kube.create(stimulusRouters, objectOf('dry', spec), { dryRun: true });

  it.each<[title: string, spec: StimulusRouterSpec]>([
    ['a route', { routes: { http_api: 'build' } }],
    ['a route to a uid', { routes: { 'my.ci': '0d1f6b7e-8a53-4c55-9d64-2f3a1b5c7e90' } }],
    ['a router agent alone', { router_agent: 'triage' }],
    ['a threshold of 0', { router_agent: 'triage', confidence_threshold: 0 }],
    ['a threshold of 1', { router_agent: 'triage', confidence_threshold: 1 }],
    ['a source of 63 characters', { routes: { ['a'.repeat(63)]: 'build' } }],
    ['200 routes', { routes: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`s${i}`, 'build'])) }],
  ])('AMB-052 ROUTE-04 ROUTE-05 ROUTE-06 takes %s', async (_title, spec) => {
    await expect(submit(spec)).resolves.toMatchObject({ spec });
  });

  it.each<[title: string, spec: unknown, says: string]>([
    ['nothing', {}, 'at least one route, or a router_agent'],
    ['no routes', { routes: {} }, 'at least one route, or a router_agent'],
    ['a source with a blank', { routes: { 'a b': 'build' } }, 'spec.routes.a b: the name of a source must match'],
    ['a source of 64 characters', { routes: { ['a'.repeat(64)]: 'build' } }, 'the name of a source must match'],
    ['a source that ends in a dot', { routes: { 'a.': 'build' } }, 'the name of a source must match'],
    ['an empty workflow', { routes: { a: '' } }, 'spec.routes.a'],
    ['a workflow that is no text', { routes: { a: 7 } }, 'spec.routes.a'],
    [
      '201 routes',
      { routes: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`s${i}`, 'w'])) },
      'spec.routes',
    ],
    ['a threshold below 0', { router_agent: 'a', confidence_threshold: -0.01 }, 'spec.confidence_threshold'],
    ['a threshold above 1', { router_agent: 'a', confidence_threshold: 1.01 }, 'spec.confidence_threshold'],
    ['a router agent with a blank', { router_agent: 'a b' }, 'spec.router_agent'],
  ])('AMB-052 refuses %s', async (_title, spec, says) => {
    await expect(submit(spec)).rejects.toMatchObject({ status: 422, message: expect.stringContaining(says) });
  });
});

describe('the controllers', () => {
  it('ROUTE-04 accept routes to workflows, claim the sources of webhooks, and say how many work', async () => {
    const source = aSource();
    await create('good', { routes: { [source]: 'build', http_api: 'build' } });
    const router = await withReason('good', 'Accepted');
    expect(claimsOf(router)).toEqual([source]);
    expect(router.status).toMatchObject({
      routes: 2,
      conditions: [{ type: 'Ready', status: 'True', message: '2 sources are routed' }],
    });
  });

  it('say which workflow is not there, and take it back when it is', async () => {
    const source = aSource();
    await create('early', { routes: { [source]: 'late' } });
    const router = await withReason('early', 'WorkflowNotFound');
    expect(router.status?.conditions?.[0]?.message).toBe(`source '${source}': there is no workflow late`);
    expect(router.status?.routes).toBe(0);
    await define('late', used.namespace);
    expect((await withReason('early', 'Accepted')).status?.routes).toBe(1);
    await kube.delete(workflows, { namespace: used.namespace, name: 'late' });
    await withReason('early', 'WorkflowNotFound');
  });

  it('say that a workflow was refused', async () => {
    const { namespace } = used;
    const broken = aWorkflow('broken')
      .with({ output_template: { x: '{{#if}}' } })
      .state('done', anEnd())
      .build();
    await kube.create(workflows, { ...broken, metadata: { name: 'broken', namespace } });
    await create('to-broken', { routes: { [aSource()]: 'broken' } });
    expect(claimsOf(await withReason('to-broken', 'WorkflowNotReady'))).toHaveLength(1);
  });

  it('ROUTE-05 say that there is no such router agent', async () => {
    await create('asking', { router_agent: 'triage' });
    expect((await withReason('asking', 'RouterAgentNotFound')).status?.routes).toBe(0);
  });

  it('AMB-144 give a source to one of two tenants, and to the other when the first lets go', async () => {
    const source = aSource();
    await create('mine', { routes: { [source]: 'build' } });
    await withReason('mine', 'Accepted');
    await create('theirs', { routes: { [source]: 'build' } }, other.name);
    const refused = await withReason('theirs', 'SourceTaken', other.name);
    expect(claimsOf(refused)).toEqual([]);
    const { message = '' } = refused.status?.conditions?.[0] ?? {};
    expect(message).toBe(`source '${source}' is claimed by another tenant`);
    const { namespace } = used;
    await kube.delete(stimulusRouters, { namespace, name: 'mine' });
    expect(claimsOf(await withReason('theirs', 'Accepted', other.name))).toEqual([source]);
  });

  it('AMB-144 let no older router take a source over by an edit', async () => {
    const source = aSource();
    await create('elder', { routes: { [aSource()]: 'build' } });
    await withReason('elder', 'Accepted');
    // The age of objects is counted in seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await create('younger', { routes: { [source]: 'build' } }, other.name);
    await withReason('younger', 'Accepted', other.name);
    const ref = { namespace: used.namespace, name: 'elder' };
    await kube.mergePatch(stimulusRouters, ref, { spec: { routes: { [source]: 'build' } } });
    await withReason('elder', 'SourceTaken');
    expect(claimsOf(await withReason('younger', 'Accepted', other.name))).toEqual([source]);
  });

  it('AMB-042 let every tenant name http_api', async () => {
    await create('api-here', { routes: { Custom_Name: 'build' } });
    await create('api-there', { routes: { Custom_Name: 'build' } }, other.name);
    expect(claimsOf(await withReason('api-here', 'Accepted'))).toEqual([]);
    expect(claimsOf(await withReason('api-there', 'Accepted', other.name))).toEqual([]);
  });

  it('do nothing for a router outside of tenants', async () => {
    const source = aSource();
    await create('stray', { routes: { [source]: 'build' } }, 'default');
    try {
      const router = await withReason('stray', 'NotATenant', 'default');
      expect(claimsOf(router)).toEqual([]);
      await create('home', { routes: { [source]: 'build' } });
      expect(claimsOf(await withReason('home', 'Accepted'))).toEqual([source]);
    } finally {
      await kube.delete(stimulusRouters, { namespace: 'default', name: 'stray' });
    }
  });
});

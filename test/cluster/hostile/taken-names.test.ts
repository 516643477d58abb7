import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { helperWorkflow } from '../../../api/tools/helper-workflow.ts';
import { annotations, archiveFinalizer, labels } from '../../../crds/labels.ts';
import type { CliTool } from '../../../crds/schema/cli-tool.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { ownerKey } from '../../../lib/workflow-lookup/index.ts';
import { shortHash } from '../../../lib/ids.ts';
import { controllerRevisions, findObject, type KubeObject } from '../../../lib/kube/index.ts';
import { workflowOf } from '../../../lib/cli-tool/workflow-of.ts';
import { objectName, toManifest, userObjectName } from '../../../lib/manifest/index.ts';
import { clusterNames } from '../../../lib/tenant/names.ts';
import { anEnd, aQuestion, aWorkflow } from '../../builders/workflow-builder.ts';
import { type Answer, createSend, type Send } from '../admission/api.ts';
import { type ApiWorld, startApiWorld } from '../api/harness/index.ts';
import { bindRole, giveEveryRight } from '../harness/bind-role.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import { sendSignal, waitUntilFinished, waitUntilWaiting } from '../harness/executions.ts';
import { agentExecutions, workflowExecutions, workflows } from '../harness/kinds.ts';
import { waitForObject } from '../harness/wait.ts';

/**
 * Ada is a user of a tenant. Bob is her colleague: he may define and run workflows there, over HTTP and with kubectl.
 * Mallory administers the other tenant: a role in that namespace gives her every verb on everything.
 */
let world: ApiWorld;
let send: Send;
let ada: string;
let bob: string;
let adaKey: string;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'taken-names', nats: false });
  send = await createSend(kubeconfigPath());
  ada = await world.token({ user: 'ada', tenant: world.tenant });
  bob = await world.token({ user: 'bob', tenant: world.tenant });
  await bindRole(world.kube, { namespace: world.tenant, role: clusterNames.operator, user: 'bob' });
  await giveEveryRight(world.kube, world.otherTenant, 'mallory');
  await register(ada, demo('payroll', 'of Ada'), '?scope=user');
  adaKey = await keyOfAda();
});
afterAll(() => world?.close());

/** As a workflow tells whose content it has: by its final output. */
const demo = (name: string, whose: string): Workflow =>
  aWorkflow(name).with({ output_template: { whose } }).state('end', anEnd()).build();

async function register(token: string, workflow: Workflow, query = ''): Promise<number> {
  const headers = { 'content-type': 'application/yaml' };
  const body = stringify(toManifest(workflow));
  return (await world.http(`/v1/workflows/register${query}`, { token, headers, body })).status;
}

async function keyOfAda(): Promise<string> {
  const { items } = await world.kube.listAll(workflows, { namespace: world.tenant });
  return (
    items.find(({ metadata }) => metadata.labels?.[labels.user] !== undefined)?.metadata.labels?.[labels.user] ?? ''
  );
}

/** Output of an execution that is started over HTTP, or the status of the refusal. */
async function run(token: string, workflow: string): Promise<unknown> {
  const answer = await world.http('/v1/workflows/executions', { token, body: { workflow } });
  if (answer.status !== 200) return answer.status;
  const uid = answer.json<{ execution_id: string }>().execution_id;
  const { items } = await world.kube.listAll(workflowExecutions, { namespace: world.tenant });
  const name = items.find(({ metadata }) => metadata.uid === uid)?.metadata.name ?? '';
  const { status } = await waitUntilFinished(world.kube, { namespace: world.tenant, name });
  return status?.final_output ?? status?.reason;
}

const at = (namespace: string, plural: string, name?: string, group = 'windlass.dev/v1'): string =>
  `/apis/${group}/namespaces/${namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
const asBob = (method: string, plural: string, body: object, name?: string): Promise<Answer> =>
  send(method, at(world.tenant, plural, name), body, { as: 'bob', rights: 'own', ...patchType(method) });
const asMallory = (method: string, path: string, body?: object): Promise<Answer> =>
  send(method, path, body, { as: 'mallory', rights: 'own', ...patchType(method) });
const patchType = (method: string) => (method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {});

const resource = (metadata: KubeObject['metadata']): object => ({ ...demo('x', 'of Bob'), metadata });

describe("Bob and Ada's private workflow", () => {
  it('WF-API-12 a manifest of Bob under the name of its object is another workflow', async () => {
    const name = userObjectName(adaKey, 'payroll');
    expect(await register(bob, demo(name, 'of Bob'))).toBe(200);
    expect(await run(ada, 'payroll')).toEqual({ whose: 'of Ada' });
    expect(await run(bob, name)).toEqual({ whose: 'of Bob' });
  });

  it('WF-API-12 a start that names it by key and name finds nothing, nor does a Subworkflow', async () => {
    const joined = `${adaKey}/payroll`;
    expect(await run(bob, joined)).toBe(404);
    const parent = aWorkflow('parent')
      .state('child', {
        kind: 'Subworkflow',
        workflow_id: joined,
        result_key: 'r',
        transitions: [{ condition: 'on_failure', target: 'end' }],
      })
      .state('end', anEnd())
      .build();
    const { status } = await asBob('POST', 'workflows', parent);
    const outcome = status === 201 ? await run(bob, 'parent') : status;
    expect(outcome).not.toEqual({ whose: 'of Ada' });
  });

  it.each<[string, () => KubeObject['metadata']]>([
    ['the name of its object', () => ({ name: userObjectName(adaKey, 'other') })],
    ['the label of Ada', () => ({ name: 'mine', labels: { [labels.user]: adaKey } })],
    ['the former ids of another', () => ({ name: 'mine', annotations: { [annotations.formerIds]: 'x' } })],
    ['the id of another one as its name', () => ({ name: '0b9f2c1e-1111-4222-8333-444455556666' })],
    ['a derived name without its origin', () => ({ name: objectName('dash-') })],
  ])('Bob creates no object with %s', async (_title, metadata) => {
    const { status, message } = await asBob('POST', 'workflows', resource(metadata()));
    expect([status, message]).toEqual([403, expect.stringContaining('workflow-identities.windlass.dev')]);
  });

  it('Bob creates one with a derived name that says what it was derived from, and does not change that', async () => {
    const name = objectName('bobs-');
    const metadata = { name, annotations: { [annotations.name]: 'bobs-' } };
    expect((await asBob('POST', 'workflows', resource(metadata))).status).toBe(201);
    const renamed = { metadata: { annotations: { [annotations.name]: 'other-' } } };
    expect((await asBob('PATCH', 'workflows', renamed, name)).status).toBe(403);
  });

  it('Bob changes neither its content nor its owner', async () => {
    const name = userObjectName(adaKey, 'payroll');
    const content = { spec: { version: '9.9.9', output_template: { whose: 'of Bob' } } };
    const owner = { metadata: { labels: { [labels.user]: ownerKey('bob') } } };
    for (const change of [content, owner]) expect((await asBob('PATCH', 'workflows', change, name)).status).toBe(403);
    expect(await run(ada, 'payroll')).toEqual({ whose: 'of Ada' });
  });

  it('Bob runs no execution of it again over HTTP, which Ada does', async () => {
    const started = await world.http('/v1/workflows/executions', { token: ada, body: { workflow: 'payroll' } });
    const uid = started.json<{ execution_id: string }>().execution_id;
    const { items } = await world.kube.listAll(workflowExecutions, { namespace: world.tenant });
    const name = items.find(({ metadata }) => metadata.uid === uid)?.metadata.name ?? '';
    await waitUntilFinished(world.kube, { namespace: world.tenant, name });
    const statusOf = async (token: string, path: string, body: object) =>
      (await world.http(`/v1/workflows/executions/${uid}/${path}`, { token, body })).status;
    expect([await statusOf(bob, 'rerun', {}), await statusOf(bob, 'retry', { from: 'end' })]).toEqual([404, 404]);
    expect(await statusOf(ada, 'rerun', {})).toBe(200);
  });
});

describe('the workflow of a CLI tool', () => {
  const gateway = { as: 'system:serviceaccount:windlass-system:windlass-gateway' };
  const spec = { name: 'text.count', description: 'Counts.', input_schema: {}, image: 'busybox:1.37', command: ['wc'] };
  const tool = { apiVersion: 'windlass.dev/v1', kind: 'CliTool', spec: { ...spec, input_schema: { type: 'object' } } };
  const of = (uid: string) => workflowOf({ ...tool, metadata: { name: 'count', uid } } as CliTool, world.tenant);

  it('AMB-196 Bob does not make in advance under the name that he can foresee, by kubectl or over HTTP', async () => {
    const workflow = of('u-1');
    const { labels: _, ...metadata } = workflow.metadata;
    const { status, message } = await asBob('POST', 'workflows', { ...workflow, metadata });
    expect([status, message]).toEqual([403, expect.stringContaining('which only the tool gateway makes')]);
    expect(await register(bob, demo(metadata.name, 'of Bob'))).toBeGreaterThanOrEqual(400);
  });

  it('AMB-196 runs what the gateway wrote: Bob changes neither its command nor its mark, and marks no other', async () => {
    const workflow = of('u-2');
    const { name } = workflow.metadata;
    expect((await send('POST', at(world.tenant, 'workflows'), workflow, gateway)).status).toBe(201);
    const command = { spec: { version: '1.0.1', states: { run: { command: ['id'] } } } };
    const forced = { ...command, metadata: { annotations: { [annotations.force]: 'true' } } };
    const unmarked = { metadata: { labels: { [labels.cliTool]: null } } };
    for (const change of [command, forced, unmarked])
      expect((await asBob('PATCH', 'workflows', change, name)).status).toBe(403);
    const marked = resource({ name: 'mine', labels: { [labels.cliTool]: 'u-2' } });
    expect((await asBob('POST', 'workflows', marked)).message).toContain('is written by the tool gateway only');
    expect((await asBob('PATCH', 'workflows', { metadata: { annotations: { note: 'mine' } } }, name)).status).toBe(200);
  });
});

describe('the workflow of file tools of a volume', () => {
  const api = { as: 'system:serviceaccount:windlass-system:windlass-api' };
  /** Without its owner, a Volume that is not there: the garbage collector would delete it. */
  const of = (uid: string): Workflow => {
    const { metadata, ...workflow } = helperWorkflow({
      isReader: true,
      image: 'busybox:1.37',
      namespace: world.tenant,
      volume: { uid, name: 'data' },
      folder: '/files',
    });
    const { ownerReferences: _, ...own } = metadata;
    return { ...workflow, metadata: own };
  };

  it('Bob does not make in advance under the name that he can foresee, by kubectl or over HTTP', async () => {
    const { metadata } = of('11111111-0000-4000-8000-000000000001');
    const { status, message } = await asBob('POST', 'workflows', resource({ name: metadata.name }));
    expect([status, message]).toEqual([403, expect.stringContaining('which only the Windlass API makes')]);
    expect(await register(bob, demo(metadata.name, 'of Bob'))).toBe(200);
    expect(await run(bob, metadata.name)).toEqual({ whose: 'of Bob' });
    expect(await findObject(world.kube, workflows, { namespace: world.tenant, name: metadata.name })).toBeUndefined();
  });

  it('runs what the API wrote: Bob changes nothing of it, nor does the API', async () => {
    const workflow = of('11111111-0000-4000-8000-000000000002');
    const { name } = workflow.metadata;
    expect((await send('POST', at(world.tenant, 'workflows'), workflow, api)).status).toBe(201);
    const change = { spec: { version: '1.0.1', states: { run: { env: { LD_PRELOAD: '/files/x.so' } } } } };
    const refused = [403, expect.stringContaining('the workflow of file tools is never changed')];
    const forced = { ...change, metadata: { annotations: { [annotations.force]: 'true' } } };
    for (const { status, message } of [
      await asBob('PATCH', 'workflows', change, name),
      await asBob('PATCH', 'workflows', forced, name),
      await send('PATCH', at(world.tenant, 'workflows', name), change, { ...api, ...patchType('PATCH') }),
    ])
      expect([status, message]).toEqual(refused);
    expect((await asBob('PATCH', 'workflows', { metadata: { annotations: { note: 'mine' } } }, name)).status).toBe(200);
  });
});

describe('names that Bob can foresee', () => {
  const execution = (metadata: KubeObject['metadata'], spec: object = {}): object => ({
    apiVersion: 'windlass.dev/v1',
    kind: 'WorkflowExecution',
    metadata,
    spec: { workflow: 'payroll', ...spec },
  });

  it.each<[string, KubeObject['metadata']]>([
    ['of an Idempotency-Key', { name: `start-${shortHash('a key of Ada', 32)}` }],
    ['of another execution as its id', { name: '0b9f2c1e-1111-4222-8333-444455556666' }],
    ['of a stimulus', { name: 'stimulus-0b9f2c1e-1111-4222-8333-444455556666' }],
    ['with who started it', { name: 'a', annotations: { [annotations.startedBy]: 'ada' } }],
    ['with the request of Ada', { name: 'b', annotations: { [annotations.request]: 'x' } }],
    ['with the depth of a chain', { name: 'e', annotations: { [annotations.linkDepth]: '0' } }],
    ['with the root of a chain', { name: 'f', annotations: { [annotations.linkRoot]: 'x' } }],
    ['as what the end of another one started', { name: 'g', annotations: { [annotations.linkedFrom]: 'x' } }],
    ['with the label of a stimulus', { name: 'c', labels: { [labels.stimulus]: 'x' } }],
    ['with the label of the tool that it runs', { name: 'h', labels: { [labels.cliTool]: 'u-2' } }],
    ['with a starter without a name', { name: 'i', annotations: { [annotations.startedBy]: '' } }],
    ['with the label of a child', { name: 'd', labels: { [labels.parentUid]: 'x' } }],
  ])('he creates no execution %s', async (_title, metadata) => {
    const { status, message } = await asBob('POST', 'workflowexecutions', execution(metadata));
    expect([status, message]).toEqual([403, expect.stringContaining('workflow-execution-writes.windlass.dev')]);
  });

  it('he takes off no mark of an execution, moves it to no other workflow, and takes it from no archive', async () => {
    const { kube, tenant: namespace } = world;
    const asks = aWorkflow('marked')
      .state('ask', aQuestion('Go on?', { yes: 'end', no: 'end' }))
      .state('end', anEnd())
      .build();
    await kube.create(workflows, { ...asks, metadata: { name: 'marked', namespace } });
    const marks = {
      labels: {
        [labels.cliTool]: 'u-2',
        [labels.stimulus]: 's',
        [labels.workflow]: 'marked',
        [labels.workflowUid]: 'w',
      },
      annotations: { [annotations.startedBy]: 'ada', [annotations.request]: 'x', [annotations.agentRoot]: '' },
    };
    const ref = { namespace, name: 'marked-1' };
    const metadata = { ...ref, ...marks, finalizers: [archiveFinalizer] };
    await kube.create(workflowExecutions, {
      apiVersion: 'windlass.dev/v1',
      kind: 'WorkflowExecution',
      metadata: ref,
      spec: { workflow: 'marked' },
    });
    await waitUntilWaiting(kube, { ...ref, state: 'ask' });
    const path = at(namespace, 'workflowexecutions', ref.name);
    const gateway = { as: 'system:serviceaccount:windlass-system:windlass-gateway', ...patchType('PATCH') };
    expect((await send('PATCH', path, { metadata }, gateway)).status).toBe(200);
    const off = (map: 'labels' | 'annotations') =>
      Object.keys(marks[map]).flatMap((key) => [{ [map]: { [key]: null } }, { [map]: { [key]: 'other' } }]);
    for (const change of [...off('labels'), ...off('annotations'), { finalizers: null }]) {
      const { status, message } = await asBob('PATCH', 'workflowexecutions', { metadata: change }, ref.name);
      expect([change, status, message]).toEqual([change, 403, expect.stringContaining('workflow-execution-writes')]);
    }
    const harmless = { metadata: { annotations: { note: 'mine' } } };
    expect((await asBob('PATCH', 'workflowexecutions', harmless, ref.name)).status).toBe(200);
    // A writer of all executions lets it go.
    expect((await send('PATCH', path, { metadata: { finalizers: null } }, patchType('PATCH'))).status).toBe(200);
  });

  it('he gives no execution of an agent the label of another agent, and no timeout that would do nothing', async () => {
    const { kube, tenant: namespace } = world;
    const agentExecution = (metadata: KubeObject['metadata']): KubeObject & { readonly spec: object } => ({
      apiVersion: 'windlass.dev/v1',
      kind: 'AgentExecution',
      metadata,
      spec: { agent: 'nobodys', timeout: '10m' },
    });
    const refused = (change: object) => [change, 403, expect.stringContaining('agent-execution-writes.windlass.dev')];
    for (const key of [labels.agent, labels.agentUid]) {
      const metadata = { name: 'labelled', namespace, labels: { [key]: 'payroll' } };
      const { status, message } = await asBob('POST', 'agentexecutions', agentExecution(metadata));
      expect([metadata, status, message]).toEqual(refused(metadata));
    }
    const ref = { namespace, name: 'of-an-agent' };
    const api = { as: 'system:serviceaccount:windlass-system:windlass-api' };
    const made = agentExecution({ ...ref, labels: { [labels.agent]: 'nobodys', [labels.agentUid]: 'u-1' } });
    expect((await send('POST', at(namespace, 'agentexecutions'), made, api)).status).toBe(201);
    for (const key of [labels.agent, labels.agentUid]) {
      for (const value of [null, '', 'payroll']) {
        const change = { metadata: { labels: { [key]: value } } };
        const { status, message } = await asBob('PATCH', 'agentexecutions', change, ref.name);
        expect([change, status, message]).toEqual(refused(change));
      }
    }
    for (const timeout of [null, '1h']) {
      const { status, message } = await asBob('PATCH', 'agentexecutions', { spec: { timeout } }, ref.name);
      expect([timeout, status, message]).toEqual([timeout, 422, expect.stringContaining('timeout: is immutable')]);
    }
    const harmless = { metadata: { annotations: { note: 'mine' } } };
    expect((await asBob('PATCH', 'agentexecutions', harmless, ref.name)).status).toBe(200);
    await kube.delete(agentExecutions, ref);
  });

  it('he gives no execution of an agent the name of the judge of an answer, of a start with a key, or of a router agent', async () => {
    const agentExecution = (name: string): object => ({
      apiVersion: 'windlass.dev/v1',
      kind: 'AgentExecution',
      metadata: { name },
      spec: { agent: 'nobodys' },
    });
    const [judge, start] = [`judge-${shortHash('u-1')}-3`, `start-${shortHash('a key of Ada', 32)}`];
    for (const name of [judge, start, `route-${randomUUID()}`]) {
      const { status, message } = await asBob('POST', 'agentexecutions', agentExecution(name));
      expect([name, status, message]).toEqual([name, 403, expect.stringContaining('has the form of a name')]);
      const api = { as: 'system:serviceaccount:windlass-system:windlass-api' };
      const path = `${at(world.tenant, 'agentexecutions')}?dryRun=All`;
      expect((await send('POST', path, agentExecution(name), api)).status).toBe(201);
    }
    for (const name of ['judge-3', 'route-3'])
      expect((await asBob('POST', 'agentexecutions', agentExecution(name))).status).toBe(201);
  });

  it('EDGE-REST-28 he gives no fleet run the name of a start with a key, although he may start runs', async () => {
    const fleetRun = (name: string): object => ({
      apiVersion: 'windlass.dev/v1',
      kind: 'FleetRun',
      metadata: { name },
      spec: { target: { All: {} }, tool: 'cmd.run', requested_by: 'fay' },
    });
    // Bob's role has no right to start runs; Fay's has.
    await bindRole(world.kube, { namespace: world.tenant, role: clusterNames.edgeOperator, user: 'fay' });
    const path = at(world.tenant, 'fleetruns');
    const asFay = (name: string) => send('POST', path, fleetRun(name), { as: 'fay', rights: 'own' });
    const name = `fleet-${shortHash('a key of Ada', 32)}`;
    const { status, message } = await asFay(name);
    expect([status, message]).toEqual([403, expect.stringContaining('has the form of a name that the API gives')]);
    const api = { as: 'system:serviceaccount:windlass-system:windlass-api' };
    expect((await send('POST', `${path}?dryRun=All`, fleetRun(name), api)).status).toBe(201);
    expect((await asFay('fleet-of-fay')).status).toBe(201);
  });

  it('WF-SUB-01 a child whose name he took in advance runs all the same, and his execution is not taken for it', async () => {
    const { kube, tenant: namespace } = world;
    await kube.create(workflows, { ...demo('child', 'of Ada'), metadata: { name: 'child', namespace } });
    const parent = aWorkflow('asks')
      .with({ output_template: { child: '{{call.output}}' } })
      .state('ask', aQuestion('Go on?', { yes: 'call', no: 'end' }))
      .state('call', {
        kind: 'Subworkflow',
        workflow_id: 'child',
        result_key: 'r',
        transitions: [{ condition: 'always', target: 'end' }],
      })
      .state('end', anEnd())
      .build();
    await kube.create(workflows, { ...parent, metadata: { name: 'asks', namespace } });
    const ref = { namespace, name: 'asks-1' };
    const { metadata } = await kube.create(workflowExecutions, {
      apiVersion: 'windlass.dev/v1',
      kind: 'WorkflowExecution',
      metadata: ref,
      spec: { workflow: 'asks' },
    });
    await waitUntilWaiting(kube, { ...ref, state: 'ask' });
    const taken = `asks-1-call-${shortHash(JSON.stringify([metadata.uid, 'child', 'call', 1]), 10)}`;
    expect((await asBob('POST', 'workflowexecutions', execution({ name: taken }))).status).toBe(201);
    await sendSignal(kube, ref, { state: 'ask', response: 'yes' });
    const { status } = await waitUntilFinished(kube, ref);
    expect(status?.final_output).toMatchObject({ child: { result: { whose: 'of Ada' } } });
    const { items } = await kube.listAll(workflowExecutions, { namespace });
    const children = items.filter(({ spec }) => spec.parent?.uid === metadata.uid);
    expect(children.map(({ metadata: { name } }) => name === taken)).toEqual([false]);
  });
});

describe('Mallory, with every right in her namespace', () => {
  const one = (kind: string, spec: object): object => ({
    apiVersion: 'windlass.dev/v1',
    kind,
    metadata: { name: 'mine' },
    spec,
  });

  it.each<[string, string, object, object]>([
    [
      'stimulusrouters',
      'StimulusRouter',
      { routes: { ci: 'w' } },
      { claims: [{ source: 'ci', since: '1970-01-01T00:00:00Z' }] },
    ],
    [
      'workflowexecutions',
      'WorkflowExecution',
      { workflow: 'w' },
      {
        phase: 'running',
        workflow: { name: 'payroll', namespace: 'elsewhere', uid: 'u', version: '1.0.0', revision: 'r' },
      },
    ],
    ['volumes', 'Volume', { storage_class: 'persistent' }, { phase: 'ready', claim_name: 'of-another' }],
    ['workflows', 'Workflow', demo('mine', 'of Mallory').spec, { revision: 'r' }],
  ])('writes no status of %s', async (plural, kind, spec, status) => {
    const path = at(world.otherTenant, plural);
    const made = await asMallory('POST', path, one(kind, spec));
    expect([made.status, made.message]).toEqual([201, '']);
    const answer = await asMallory('PATCH', `${path}/mine/status`, { status });
    expect([answer.status, answer.message]).toEqual([403, expect.stringContaining('status-writes.windlass.dev')]);
  });

  it('makes and adopts no revision of a workflow', async () => {
    const path = at(world.otherTenant, 'controllerrevisions', undefined, 'apps/v1');
    const marks = { [labels.workflow]: 'payroll', [labels.workflowUid]: 'u', [labels.managedBy]: 'windlass' };
    const revision = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name: 'r', labels: marks },
      revision: 1,
      data: { spec: {} },
    };
    expect((await asMallory('POST', path, revision)).status).toBe(403);
    const { kube, otherTenant: namespace } = world;
    const stored = await waitForObject(kube, { resource: workflows, namespace, name: 'mine' }, isReady);
    const name = stored.status?.revision ?? '';
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true };
    const adopted = await asMallory('PATCH', `${path}/${name}`, { metadata: { ownerReferences: [owner] } });
    expect([adopted.status, adopted.message]).toEqual([403, expect.stringContaining('have no owner')]);
  });

  it('blocks no workflow with a DaemonSet whose pods carry our labels', async () => {
    const { kube, tenant, otherTenant } = world;
    await kube.create(workflows, { ...demo('target', 'of Ada'), metadata: { name: 'target', namespace: tenant } });
    const target = await waitForObject(kube, { resource: workflows, namespace: tenant, name: 'target' }, isReady);
    const marks = {
      [labels.managedBy]: 'windlass',
      [labels.workflow]: 'target',
      [labels.workflowUid]: target.metadata.uid ?? '',
    };
    const pod = { nodeSelector: { nowhere: 'true' }, containers: [{ name: 'c', image: 'x' }] };
    const daemonSet = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'target' },
      spec: { selector: { matchLabels: marks }, template: { metadata: { labels: marks }, spec: pod } },
    };
    const answer = await asMallory('POST', at(otherTenant, 'daemonsets', undefined, 'apps/v1'), daemonSet);
    expect(answer.status).toBe(201);
    const next = { spec: { version: '1.0.1' } };
    await send('PATCH', at(tenant, 'workflows', 'target'), next, { contentType: 'application/merge-patch+json' });
    const isNext = (workflow: Workflow) => isReady(workflow) && workflow.status?.versions?.length === 2;
    await waitForObject(kube, { resource: workflows, namespace: tenant, name: 'target' }, isNext);
    const labelSelector = `${labels.workflowUid}=${target.metadata.uid}`;
    const { items } = await kube.listAll(controllerRevisions, { namespace: otherTenant, labelSelector });
    expect(items).toEqual([]);
  });

  it('makes no pod that passes for a step, and no volume that passes for one of an execution', async () => {
    const metadata = { name: 'step', labels: { [labels.executionUid]: 'u' } };
    const securityContext = {
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    };
    const restricted = { containers: [{ name: 'step', image: 'x', securityContext }] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: restricted };
    const pods = `/api/v1/namespaces/${world.otherTenant}/pods`;
    expect((await asMallory('POST', pods, pod)).message).toContain('step-pods.windlass.dev');
    const volume = { apiVersion: 'windlass.dev/v1', kind: 'Volume', metadata, spec: { storage_class: 'persistent' } };
    const answer = await asMallory('POST', at(world.otherTenant, 'volumes'), volume);
    expect(answer.message).toContain('execution-volumes.windlass.dev');
  });

  it('CVE-2020-8554 takes no address of others for a Service, in its spec or its status, new or later', async () => {
    const services = `/api/v1/namespaces/${world.otherTenant}/services`;
    const addresses = ['8.8.8.8', '10.96.0.1'];
    const service = (spec: object) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'mine' },
      spec: { ports: [{ port: 53 }], ...spec },
    });
    const guarded = [403, expect.stringContaining('service-addresses.windlass.dev')];
    const taken = await asMallory('POST', services, service({ externalIPs: addresses }));
    expect([taken.status, taken.message]).toEqual(guarded);
    expect((await asMallory('POST', services, service({ type: 'LoadBalancer' }))).status).toBe(201);
    const path = `${services}/mine`;
    const later = await asMallory('PATCH', path, { spec: { externalIPs: addresses } });
    expect([later.status, later.message]).toEqual(guarded);
    const ingress = { status: { loadBalancer: { ingress: addresses.map((ip) => ({ ip })) } } };
    const balanced = await asMallory('PATCH', `${path}/status`, ingress);
    expect([balanced.status, balanced.message]).toEqual(guarded);
    // An administrator of the cluster and a controller of load balancers may; she keeps what they gave.
    const given = await send('PATCH', path, { spec: { externalIPs: ['192.0.2.7'] } }, patchType('PATCH'));
    expect([given.status, given.message]).toEqual([200, '']);
    const balancer = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.8' }] } } };
    expect((await send('PATCH', `${path}/status`, balancer, patchType('PATCH'))).status).toBe(200);
    expect((await asMallory('PATCH', path, { spec: { ports: [{ port: 54 }] } })).status).toBe(200);
    expect((await asMallory('PATCH', path, { spec: { externalIPs: null } })).status).toBe(200);
    expect((await asMallory('DELETE', path)).status).toBe(200);
  });

  it.each<[string, KubeObject['metadata']]>([
    ['another tenant', { labels: { [labels.tenant]: 'ada' } }],
    ['no tenant', { labels: { [labels.tenant]: null as unknown as string } }],
    ['less secure', { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } }],
    ['the owner of a source', { annotations: { [annotations.webhookSources]: 'github' } }],
  ])('does not make her namespace %s, which an administrator may', async (_title, metadata) => {
    const path = `/api/v1/namespaces/${world.otherTenant}`;
    const { status, message } = await asMallory('PATCH', path, { metadata });
    expect([status, message]).toEqual([403, expect.stringContaining('tenant-namespaces.windlass.dev')]);
    const dryRun = await send('PATCH', `${path}?dryRun=All`, { metadata }, patchType('PATCH'));
    expect(dryRun.status).toBe(200);
    const harmless = await asMallory('PATCH', path, { metadata: { labels: { team: 'm' } } });
    expect(harmless.status).toBe(200);
  });

  it.each(['status', 'finalize'])('does not make her namespace another tenant through namespaces/%s', async (sub) => {
    const path = `/api/v1/namespaces/${world.otherTenant}`;
    const marks = { labels: { [labels.tenant]: 'ada', 'pod-security.kubernetes.io/enforce': 'privileged' } };
    const write = async ({ labels: l, annotations: a }: Partial<KubeObject['metadata']>) => {
      const stored = (await send('GET', path)).body as unknown as KubeObject;
      const { labels: given, annotations: notes } = stored.metadata;
      const metadata = { ...stored.metadata, labels: { ...given, ...l }, annotations: { ...notes, ...a } };
      return asMallory('PUT', `${path}/${sub}`, { ...stored, metadata });
    };
    for (const more of [marks, { annotations: { [annotations.webhookSources]: 'github' } }]) {
      const { status, message } = await write(more);
      expect([status, message]).toEqual([403, expect.stringContaining('tenant-namespaces.windlass.dev')]);
    }
    expect((await write({ labels: { team: 'n' } })).status).toBe(200);
  });

  it('and the garbage collector and the namespace controller still clear what she made', async () => {
    const path = at(world.otherTenant, 'workflowexecutions', 'mine');
    expect((await asMallory('DELETE', path)).status).toBe(200);
    const gone = async () =>
      (await findObject(world.kube, workflowExecutions, { namespace: world.otherTenant, name: 'mine' })) === undefined;
    await expect.poll(gone, { timeout: 30_000 }).toBe(true);
  });
});

const isReady = ({ status, metadata }: Workflow): boolean =>
  status?.conditions?.some(
    ({ type, status: value, observedGeneration }) =>
      type === 'Ready' && value === 'True' && observedGeneration === metadata.generation,
  ) === true;

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { WorkflowDefinition, WorkflowRegistration, WorkflowSummary } from '../../../api/routes/workflows/schema.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { createValidator } from '../../../crds/validators.ts';
import { ownerKey } from '../../../lib/workflow-lookup/index.ts';
import { findObject } from '../../../lib/kube/index.ts';
import { toCustomResource, toManifest, userObjectName, writeYaml } from '../../../lib/manifest/index.ts';
import { anEnd, aQuestion, aWorkflow } from '../../builders/workflow-builder.ts';
import { waitUntilFinished, waitUntilWaiting } from '../harness/executions.ts';
import { workflowExecutions, workflows } from '../harness/kinds.ts';
import { waitForObject } from '../harness/wait.ts';
import { createHttpClient } from './harness/http.ts';
import { type ApiWorld, type Received, type Sending, startApiWorld } from './harness/index.ts';

const base = '/v1/workflows';
const unknownId = '6c0a3c52-8a52-4a8e-9c0e-6d7d6a0c9f11';

let world: ApiWorld;
let ada: string;
let sam: string;
let stranger: string;
let operator: string;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'api-defs', replicas: 2, nats: false });
  ada = await world.token({ user: 'ada', tenant: world.tenant });
  sam = await world.token({ user: 'sam', tenant: world.tenant });
  stranger = await world.token({ user: 'eve', tenant: world.otherTenant });
  operator = await world.token({ user: 'olga', tenant: world.tenant, roles: ['svc:operator'] });
});
afterAll(async () => {
  await removeGlobals();
  await world?.close();
});

/** Global workflows outlive the tenants of a test. */
const globals = new Set<string>();
async function removeGlobals(): Promise<void> {
  for (const name of globals) await world.kube.delete(workflows, { namespace: 'windlass-global', name });
}
function global(name: string): string {
  const own = `${name}-${world.tenant.slice(-6)}`;
  globals.add(own);
  return own;
}

const yaml = { 'content-type': 'application/yaml' };
const ask = (path: string, sending: Sending = {}, replica = 0): Promise<Received> =>
  world.http(`${base}${path}`, { token: ada, ...sending }, replica);
const register = (body: string, { query = '', ...sending }: Sending & { query?: string } = {}, replica = 0) =>
  ask(`/register${query}`, { headers: yaml, body, ...sending }, replica);
const manifest = (workflow: Workflow): string => stringify(toManifest(workflow));
const demo = (name: string, fields: Partial<Workflow['spec']> = {}): Workflow =>
  aWorkflow(name).with(fields).state('end', anEnd()).build();

/** Registers, and gives back the id. */
async function registered(workflow: Workflow, sending: Sending & { query?: string } = {}): Promise<string> {
  const answer = await register(manifest(workflow), sending);
  expect(answer.text).toContain('"workflow_id"');
  expect(answer.status).toBe(200);
  return answer.json<{ workflow_id: string }>().workflow_id;
}

const objectOf = (name: string, namespace = world.tenant): Promise<Workflow | undefined> =>
  findObject(world.kube, workflows, { namespace, name });

async function accepted(name: string, namespace = world.tenant): Promise<void> {
  const isAccepted = ({ status, metadata }: Workflow) =>
    status?.conditions?.some(
      ({ status: value, observedGeneration }) => value === 'True' && observedGeneration === metadata.generation,
    ) ?? false;
  await waitForObject(world.kube, { resource: workflows, namespace, name }, isAccepted);
}

const versionsOf = async (name: string, replica = 0): Promise<string[]> => {
  const { versions } = (await ask(`/${name}/versions`, {}, replica)).json<{ versions: { version: string }[] }>();
  return versions.map(({ version }) => version);
};

describe('registering', () => {
  it('WF-API-01 AMB-054 answers id, name, version and scope, and kubectl sees the same object', async () => {
    const workflow = demo('first', { description: 'Says hello.', output_template: { a: '1' } });
    const answer = await register(manifest(workflow));
    expect(answer.status).toBe(200);
    const body = answer.json();
    expect(createValidator(WorkflowRegistration)(body)).toEqual([]);
    expect(body).toEqual({
      workflow_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'first',
      version: '1.0.0',
      scope: 'tenant',
      registration: 'created',
      form: 'manifest',
    });
    const object = await objectOf('first');
    expect(object?.metadata.uid).toBe(body['workflow_id']);
    expect(object?.spec).toEqual(workflow.spec);
  });

  it('WF-API-01 takes JSON as well', async () => {
    const headers = { 'content-type': 'application/json' };
    const answer = await register(JSON.stringify(toManifest(demo('as-json'))), { headers });
    expect(answer.status).toBe(200);
  });

  it('AMB-060 takes the custom resource, says that it did, and gives back the manifest', async () => {
    const answer = await register(writeYaml(demo('as-resource')));
    expect(answer.json()).toMatchObject({ registration: 'created', form: 'resource' });
    expect((await ask('/as-resource')).json()).toMatchObject({ metadata: { name: 'as-resource', version: '1.0.0' } });
  });

  it('AMB-089 keeps a name that is no object name', async () => {
    const id = await registered({ ...demo('x'), metadata: { name: 'dash-' } });
    expect((await ask('/dash-')).json()).toMatchObject({ workflow_id: id, metadata: { name: 'dash-' } });
  });

  it('AMB-152 the identical manifest again answers the same id, on the other replica too', async () => {
    const workflow = demo('again');
    const id = await registered(workflow);
    const answer = await register(manifest(workflow), {}, 1);
    expect(answer.json()).toMatchObject({ workflow_id: id, registration: 'unchanged' });
  });

  it('WF-API-11 other content under the same version is 409, and with force it replaces', async () => {
    const id = await registered(demo('versioned'));
    const other = manifest(demo('versioned', { description: 'other' }));
    const refused = await register(other, {}, 1);
    expect(refused.status).toBe(409);
    expect(refused.json()).toEqual({
      error: 'conflict',
      code: 'conflict',
      message: expect.stringContaining(
        "version 1.0.0 of workflow 'versioned' exists with other content: spec.description;",
      ),
    });
    expect((await objectOf('versioned'))?.spec.description).toBeUndefined();
    const forced = await register(other, { query: '?force=true' }, 1);
    expect(forced.json()).toMatchObject({ workflow_id: id, registration: 'updated' });
    expect((await objectOf('versioned'))?.spec.description).toBe('other');
  });

  it('WF-API-11 a version keeps its content however fast the next one came', async () => {
    await registered(demo('fast'));
    await registered(demo('fast', { version: '2.0.0' }));
    const refused = await register(manifest(demo('fast', { description: 'other' })), {}, 1);
    expect(refused.status).toBe(409);
    expect(await versionsOf('fast', 1)).toEqual(['2.0.0', '1.0.0']);
  });

  it('warns of what deserves a look', async () => {
    const text = manifest(demo('warned')).replace(
      'states:',
      'states:\n    lost: {kind: System, command: finalize, transitions: []}',
    );
    const { warnings } = (await register(text)).json<{ warnings: { path: string }[] }>();
    expect(warnings.map(({ path }) => path)).toEqual(['spec.states.lost']);
  });
});

describe('many at the same time', () => {
  it('WF-API-11 of a hundred contents under one version exactly one is registered', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        register(manifest(demo('contended', { description: `${index}` })), {}, index % 2),
      ),
    );
    const winners = answers.filter(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(99);
    expect(winners).toHaveLength(1);
    const index = answers.findIndex(({ status }) => status === 200);
    expect((await objectOf('contended'))?.spec.description).toBe(`${index}`);
  });

  it('WF-API-11 of many versions of one workflow none is lost', async () => {
    const wanted = Array.from({ length: 40 }, (_, index) => `1.0.${index}`);
    const answers = await Promise.all(
      wanted.map((version, index) => register(manifest(demo('busy', { version })), {}, index % 2)),
    );
    expect(answers.map(({ status }) => status)).toEqual(wanted.map(() => 200));
    expect(new Set(answers.map((answer) => answer.json()['workflow_id'])).size).toBe(1);
    expect((await versionsOf('busy', 1)).toSorted()).toEqual(wanted.toSorted());
    await accepted('busy');
    const listed = ({ status }: Workflow) => status?.versions?.length === wanted.length;
    await waitForObject(world.kube, { resource: workflows, namespace: world.tenant, name: 'busy' }, listed);
  });

  it('AMB-016 what one replica has registered the other finds at once, by id and by name', async () => {
    const misses: string[] = [];
    for (let index = 0; index < 40; index++) {
      const name = `fresh-${index}`;
      const id = await registered(demo(name));
      for (const path of [`/${id}`, `/${name}`]) {
        const { status } = await ask(path, {}, 1);
        if (status !== 200) misses.push(`${path}: ${status}`);
      }
    }
    expect(misses).toEqual([]);
  });

  it('AMB-016 unknown ids cost the server a few lists, however many they are', async () => {
    const before = await lists();
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) => ask(`/00000000-0000-4000-8000-${String(index).padStart(12, '0')}`)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    // Lists of the tenant's namespace and of the global one, for each wave of requests of the client's connections.
    expect((await lists()) - before).toBeLessThanOrEqual(30);
  });
});

/** Lists of workflows that the first replica has asked the API server for. */
async function lists(): Promise<number> {
  const client = createHttpClient(world.replicas[0]?.internalUrl ?? '');
  const { text } = await client.send('/metrics');
  await client.close();
  const rows = text.split('\n').filter((line) => line.startsWith('rest_client_requests_total{'));
  const ours = rows.filter(
    (line) => line.includes('verb="list"') && line.includes('resource="workflows.windlass.dev"'),
  );
  return ours.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('reading', () => {
  beforeAll(async () => {
    const fields = {
      description: 'All of it.',
      input_schema: { type: 'object', properties: { a: { type: 'string' } } },
      output_schema: { type: 'object', properties: { verdict: { type: 'string' } } },
      output_template: { verdict: '{{end.output}}' },
    };
    const workflow = demo('whole', fields);
    const metadata = { name: 'whole', labels: { team: 'web' }, annotations: { 'example.org/note': 'kept' } };
    await registered({ ...workflow, metadata });
    await registered(demo('whole-2', { version: '0.1.0' }));
    await registered(demo('whole-2', { version: '0.2.0', description: 'newer' }));
    await accepted('whole');
    await accepted('whole-2');
  });

  it('WF-API-08 AMB-016 gives the manifest back, with output_schema and output_template, its id, scope and readiness', async () => {
    const object = await objectOf('whole');
    for (const nameOrUid of ['whole', object?.metadata.uid]) {
      const body = (await ask(`/${nameOrUid}`)).json<WorkflowDefinition>();
      expect(createValidator(WorkflowDefinition)(body)).toEqual([]);
      expect(body).toEqual({
        ...toManifest({ metadata: { name: 'whole' }, spec: object?.spec as Workflow['spec'] }),
        metadata: {
          ...toManifest({ metadata: { name: 'whole' }, spec: object?.spec as Workflow['spec'] }).metadata,
          labels: { team: 'web' },
          annotations: { 'example.org/note': 'kept' },
        },
        workflow_id: object?.metadata.uid,
        scope: 'tenant',
        created_at: object?.metadata.creationTimestamp,
        ready: true,
        conditions: object?.status?.conditions,
      });
      expect(body.metadata.output_schema).toEqual({ type: 'object', properties: { verdict: { type: 'string' } } });
      expect(body.metadata.output_template).toEqual({ verdict: '{{end.output}}' });
    }
  });

  it('AMB-178 WF-MAN-07 WF-MAN-08 gives back labels and annotations that Kubernetes refuses, and finds them', async () => {
    const labels = { team: 'odd', 'cost centre': 'A & B' };
    const annotations = { 'two words': 'a\nb', 'kubernetes.io/x': 'y' };
    const workflow = demo('odd-labels');
    const given = toManifest(workflow);
    const whole = { ...given, metadata: { ...given.metadata, labels, annotations } };
    await registered(toCustomResource(whole));
    const object = await objectOf('odd-labels');
    expect(object?.metadata.labels).toEqual({ team: 'odd' });
    expect(Object.keys(object?.metadata.annotations ?? {})).toEqual(['windlass.dev/given-metadata']);
    const { apiVersion, kind, metadata, spec } = (await ask('/odd-labels')).json<WorkflowDefinition>();
    expect(metadata).toMatchObject({ labels, annotations });
    const again = await register(stringify({ apiVersion, kind, metadata, spec }));
    expect(again.json()).toMatchObject({ registration: 'unchanged' });
    for (const label of ['cost%20centre=A%20%26%20B', 'team=odd']) {
      const { workflows: found } = (await ask(`?label=${label}`)).json<{ workflows: WorkflowSummary[] }>();
      expect(found.map(({ name, labels: own }) => [name, own])).toEqual([['odd-labels', labels]]);
    }
  });

  it('AMB-060 what is read can be registered again, and changes nothing', async () => {
    const { apiVersion, kind, metadata, spec } = (await ask('/whole')).json<WorkflowDefinition>();
    const again = await register(stringify({ apiVersion, kind, metadata, spec }));
    expect(again.json()).toMatchObject({ registration: 'unchanged' });
  });

  it('WF-API-08 gives a stored version, and 404 with the list for one that is none', async () => {
    const old = (await ask('/whole-2?version=0.1.0')).json<WorkflowDefinition>();
    expect(old.metadata).toEqual({ name: 'whole-2', version: '0.1.0' });
    const unknown = await ask('/whole-2?version=9.9.9');
    expect(unknown.status).toBe(404);
    expect(unknown.json()).toEqual({
      error: 'Version not found',
      code: 'version_not_found',
      message: "workflow 'whole-2' has no version 9.9.9. It has: 0.2.0, 0.1.0.",
    });
  });

  it('WF-API-11 lists the versions, the newest first', async () => {
    const { versions } = (await ask('/whole-2/versions', {}, 1)).json<{ versions: object[] }>();
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    expect(versions).toEqual([
      { version: '0.2.0', registered_at: time, current: true },
      { version: '0.1.0', registered_at: time, current: false },
    ]);
  });

  it('shows what the controllers hold against a definition that kubectl has applied', async () => {
    const metadata = { name: 'refused', namespace: world.tenant };
    const states = { a: { kind: 'System', command: 'echo {{#if x}}', transitions: [] } } as Workflow['spec']['states'];
    const spec = { version: '1.0.0', initial_state: 'a', states };
    await world.kube.create(workflows, { apiVersion: 'windlass.dev/v1', kind: 'Workflow', metadata, spec });
    const judged = ({ status }: Workflow) => (status?.conditions?.length ?? 0) > 0;
    await waitForObject(world.kube, { resource: workflows, ...metadata }, judged);
    await expect
      .poll(async () => (await ask('/refused')).json())
      .toMatchObject({ ready: false, reason: 'InvalidDefinition', message: expect.stringContaining('command') });
  });

  it('ORCH-AUTH-11 the id and the name of another tenant answer exactly like unknown ones', async () => {
    const id = (await objectOf('whole'))?.metadata.uid ?? '';
    const paths: [string, Sending][] = [
      ['', {}],
      ['/versions', {}],
      ['', { method: 'DELETE' }],
    ];
    for (const [rest, sending] of paths) {
      const answers = await Promise.all(
        [id, unknownId, 'whole', 'nobody-has-it'].map((name) =>
          ask(`/${name}${rest}`, { ...sending, token: stranger }),
        ),
      );
      expect(answers.map(({ status, text }) => [status, text])).toEqual(
        answers.map(() => [404, expect.stringContaining('{"error":"Workflow not found","code":"workflow_not_found"')]),
      );
    }
    expect(await objectOf('whole')).toBeDefined();
  });
});

describe('the list', () => {
  const names = Array.from({ length: 7 }, (_, index) => `listed-${index}`);
  const listed = async (query: string, token = ada): Promise<WorkflowSummary[]> =>
    (await ask(`?label=list=yes${query}`, { token })).json<{ workflows: WorkflowSummary[] }>().workflows;

  beforeAll(async () => {
    for (const [index, name] of names.entries()) {
      const metadata = { name, labels: { list: 'yes', parity: index % 2 === 0 ? 'even' : 'odd' } };
      await registered({ ...demo(name, { description: `The ${index}.` }), metadata });
    }
  });

  it('AMB-016 has every workflow once, by name, in pages that fit together', async () => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = (await ask(`?label=list=yes&limit=3${after}`)).json<{
        workflows: WorkflowSummary[];
        next_cursor: string | null;
      }>();
      expect(page.workflows.length).toBeLessThanOrEqual(3);
      seen.push(...page.workflows.map(({ name }) => name));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(names);
  });

  it('AMB-016 says of each what a person chooses by', async () => {
    const [first] = await listed('');
    expect(createValidator(WorkflowSummary)(first)).toEqual([]);
    expect(first).toMatchObject({
      name: 'listed-0',
      version: '1.0.0',
      scope: 'tenant',
      description: 'The 0.',
      labels: { list: 'yes', parity: 'even' },
    });
  });

  it.each([
    ['two labels', ',parity=odd', ['listed-1', 'listed-3', 'listed-5']],
    ['an unused label', ',parity=none', []],
    ['the scope tenant', '&scope=tenant', names],
    ['the scope user', '&scope=user', []],
  ])('AMB-016 is filtered by %s', async (_title, query, want) => {
    expect((await listed(query)).map(({ name }) => name)).toEqual(want);
  });

  it('ORCH-AUTH-11 shows nothing of another tenant', async () => {
    expect(await listed('', stranger)).toEqual([]);
  });

  it.each([
    'limit=0',
    'limit=-1',
    'limit=abc',
    'limit=1.5',
    'cursor=bogus',
    'cursor=',
    'label=x',
    'label==',
    'scope=all',
    'what=else',
  ])('AMB-016 refuses ?%s', async (query) => {
    const { status, text } = await ask(`?${query}`);
    expect([status, text]).toEqual([400, expect.stringContaining('"error":"invalid_request"')]);
  });

  it.each([1, 200, 201])('AMB-016 takes a limit of %i', async (limit) => {
    expect((await ask(`?limit=${limit}`)).status).toBe(200);
  });
});

describe('scopes', () => {
  it('WF-API-12 AMB-150 global needs an operator, and every tenant sees it then', async () => {
    const name = global('shared');
    const refused = await register(manifest(demo(name)), { query: '?scope=global' });
    expect([refused.status, refused.json()['error']]).toEqual([403, 'forbidden']);
    expect(await objectOf(name, 'windlass-global')).toBeUndefined();
    await registered(demo(name), { query: '?scope=global', token: operator });
    const seen = await ask(`/${name}`, { token: stranger }, 1);
    expect(seen.json()).toMatchObject({ scope: 'global', metadata: { name } });
    const deletion = await ask(`/${name}`, { token: stranger, method: 'DELETE' });
    expect(deletion.status).toBe(403);
  });

  it('WF-API-12 a workflow of user scope is there for its owner alone, and hides that of the tenant', async () => {
    await registered(demo('mine', { description: 'of the tenant' }));
    const own = await registered(demo('mine', { description: 'of Ada' }), { query: '?scope=user' });
    const object = await objectOf(userObjectName(ownerKey(await subjectOf(own)), 'mine'));
    expect(object?.metadata.uid).toBe(own);
    expect((await ask('/mine', {}, 1)).json()).toMatchObject({ scope: 'user', metadata: { description: 'of Ada' } });
    expect((await ask('/mine?scope=tenant')).json()).toMatchObject({ metadata: { description: 'of the tenant' } });
    expect((await ask('/mine', { token: sam })).json()).toMatchObject({ scope: 'tenant' });
    expect((await ask(`/${own}`, { token: sam })).text).toMatch(
      '{"error":"Workflow not found","code":"workflow_not_found"',
    );
    expect((await ask(`/${own}`, { token: sam, method: 'DELETE' })).status).toBe(404);
    const rows = (await ask('?scope=user')).json<{ workflows: WorkflowSummary[] }>().workflows;
    expect(rows.map(({ workflow_id }) => workflow_id)).toEqual([own]);
    expect((await ask('?scope=user', { token: sam })).json()).toEqual({ workflows: [], next_cursor: null });
  });

  it('WF-API-12 names in a workflow of user scope mean the user’s own, and no other user starts it', async () => {
    const helper = { output_template: { who: 'Ada' } };
    await registered(demo('helper', { output_template: { who: 'the tenant' } }));
    await registered(demo('helper', helper), { query: '?scope=user' });
    const outer = aWorkflow('outer')
      .with({ output_template: { who: '{{call.output.result.who}}' } })
      .state('call', { kind: 'Subworkflow', workflow_id: 'helper', transitions: [{ target: 'end' }] })
      .state('end', anEnd())
      .build();
    await registered(outer, { query: '?scope=user' });
    await registered(outer);
    const start = (token: string) => ask('/executions', { token, body: { workflow: 'outer' } });
    expect(await outputOf(await start(ada))).toEqual({ who: 'Ada' });
    expect(await outputOf(await start(sam))).toEqual({ who: 'the tenant' });
  });

  async function subjectOf(uid: string): Promise<string> {
    const { items } = await world.kube.listAll(workflows, { namespace: world.tenant });
    return items.find(({ metadata }) => metadata.uid === uid)?.metadata.annotations?.['windlass.dev/user'] ?? '';
  }

  async function outputOf(started: Received): Promise<unknown> {
    expect(started.text).toContain('execution_id');
    const uid = started.json()['execution_id'];
    const { items } = await world.kube.listAll(workflowExecutions, { namespace: world.tenant });
    const name = items.find(({ metadata }) => metadata.uid === uid)?.metadata.name ?? '';
    return (await waitUntilFinished(world.kube, { namespace: world.tenant, name })).status?.final_output;
  }
});

describe('deleting', () => {
  const question = aWorkflow('gone')
    .state('ask', aQuestion('Go?', { yes: 'end', no: 'end' }))
    .state('end', anEnd());

  it('ends no execution that runs, and is 404 the second time', async () => {
    const id = await registered(question.build());
    const { execution_id: execution } = (await ask('/executions', { body: { workflow: 'gone' } })).json<{
      execution_id: string;
    }>();
    const name = await nameOf(execution);
    await waitUntilWaiting(world.kube, { namespace: world.tenant, name, state: 'ask' });
    const deleted = await ask('/gone', { method: 'DELETE' });
    expect(deleted.json()).toEqual({ workflow_id: id, name: 'gone', deleted_at: expect.any(String) });
    expect(await objectOf('gone')).toBeUndefined();
    expect((await ask('/gone')).status).toBe(404);
    expect((await ask(`/${id}`, { method: 'DELETE' })).status).toBe(404);
    await ask(`/executions/${execution}/signal`, { body: { response: 'yes' } });
    expect((await waitUntilFinished(world.kube, { namespace: world.tenant, name })).status?.phase).toBe('completed');
  });

  it('of one workflow by twenty callers is answered 200 once', async () => {
    await registered(demo('once'));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => ask('/once', { method: 'DELETE' }, index % 2)),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 19 }, () => 404),
    ]);
  });
});

async function nameOf(executionId: string): Promise<string> {
  const { items } = await world.kube.listAll(workflowExecutions, { namespace: world.tenant });
  return items.find(({ metadata }) => metadata.uid === executionId)?.metadata.name ?? '';
}

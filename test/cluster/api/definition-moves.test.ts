import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { WorkflowIdentity } from '../../../api/routes/workflows/schema.ts';
import { annotations } from '../../../crds/labels.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { createValidator } from '../../../crds/validators.ts';
import { findObject } from '../../../lib/kube/index.ts';
import { toManifest } from '../../../lib/manifest/index.ts';
import { anEnd, aQuestion, aWorkflow } from '../../builders/workflow-builder.ts';
import { waitUntilFinished, waitUntilWaiting } from '../harness/executions.ts';
import { removeGlobalWorkflows } from '../harness/global-workflows.ts';
import { createSend } from '../admission/api.ts';
import { workflowsIn } from '../admission/install.ts';
import { kubeconfigPath } from '../harness/cluster.ts';
import { workflowExecutions, workflows } from '../harness/kinds.ts';
import { waitForObject } from '../harness/wait.ts';
import { type ApiWorld, type Received, type Sending, startApiWorld } from './harness/index.ts';

const base = '/v1/workflows';
const globalNamespace = 'windlass-global';

let world: ApiWorld;
let user: string;
let operator: string;
let stranger: string;
let suffix: string;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'api-moves', replicas: 2, nats: false });
  user = await world.token({ user: 'ada', tenant: world.tenant });
  operator = await world.token({ user: 'olga', tenant: world.tenant, roles: ['svc:operator'] });
  stranger = await world.token({ user: 'eve', tenant: world.otherTenant });
  suffix = world.tenant.slice(-6);
});
afterAll(async () => {
  if (world !== undefined) await removeGlobalWorkflows(world.kube, (name) => name.endsWith(`-${suffix}`));
  await world?.close();
});

const ask = (path: string, sending: Sending = {}, replica = 0): Promise<Received> =>
  world.http(`${base}${path}`, { token: operator, ...sending }, replica);
const move = (path: string, sending: Sending = {}, replica = 0) => ask(path, { method: 'POST', ...sending }, replica);

async function registered(workflow: Workflow, { query = '', token = user } = {}): Promise<string> {
  const headers = { 'content-type': 'application/yaml' };
  const answer = await ask(`/register${query}`, { headers, body: stringify(toManifest(workflow)), token });
  expect(answer.text).toContain('"workflow_id"');
  return answer.json<{ workflow_id: string }>().workflow_id;
}

const demo = (name: string, fields: Partial<Workflow['spec']> = {}): Workflow =>
  aWorkflow(name).with(fields).state('end', anEnd()).build();

const objectOf = (namespace: string, name: string): Promise<Workflow | undefined> =>
  findObject(world.kube, workflows, { namespace, name });

async function uids(name: string): Promise<Record<'tenant' | 'global', string | undefined>> {
  const [tenant, global] = await Promise.all([objectOf(world.tenant, name), objectOf(globalNamespace, name)]);
  return { tenant: tenant?.metadata.uid, global: global?.metadata.uid };
}

const versionsOf = async (name: string, token = operator): Promise<string[]> => {
  const { versions } = (await ask(`/${name}/versions`, { token })).json<{ versions: { version: string }[] }>();
  return versions.map(({ version }) => version);
};

async function executionName(id: unknown): Promise<string> {
  const { items } = await world.kube.listAll(workflowExecutions, { namespace: world.tenant });
  return items.find(({ metadata }) => metadata.uid === id)?.metadata.name ?? '';
}

describe('promoting', () => {
  it('WF-API-13 AMB-150 needs an operator', async () => {
    const name = `plain-${suffix}`;
    await registered(demo(name));
    for (const path of [`/${name}/promote`, `/${name}/demote`]) {
      const answer = await move(path, { token: user });
      expect([answer.status, answer.json()['error']]).toEqual([403, 'forbidden']);
    }
    expect((await uids(name)).global).toBeUndefined();
  });

  it('WF-API-13 moves a workflow with all its versions to every tenant, and leaves its executions running', async () => {
    const name = `moved-${suffix}`;
    const question = aWorkflow(name)
      .state('ask', aQuestion('Go?', { yes: 'end', no: 'end' }))
      .state('end', anEnd());
    await registered(demo(name, { version: '0.1.0', description: 'the first' }));
    const former = await registered(question.with({ version: '0.2.0' }).build());
    const started = await ask('/executions', { body: { workflow: name }, token: user });
    const { execution_id: executionId } = started.json<{ execution_id: string }>();
    const execution = await executionName(executionId);
    await waitUntilWaiting(world.kube, { namespace: world.tenant, name: execution, state: 'ask' });

    const answer = await move(`/${name}/promote`);
    expect(answer.status).toBe(200);
    const body = answer.json<{ workflow_id: string }>();
    expect(createValidator(WorkflowIdentity)(body)).toEqual([]);
    expect(body).toMatchObject({ name, version: '0.2.0', scope: 'global' });
    expect(await uids(name)).toEqual({ tenant: undefined, global: body.workflow_id });

    const seen = await ask(`/${name}`, { token: stranger }, 1);
    expect(seen.json()).toMatchObject({ workflow_id: body.workflow_id, scope: 'global' });
    expect(await versionsOf(name, stranger)).toEqual(['0.2.0', '0.1.0']);
    const first = await ask(`/${name}?version=0.1.0`, { token: stranger });
    expect(first.json()).toMatchObject({ metadata: { description: 'the first' } });
    const byFormerId = await ask(`/${former}`, { token: user }, 1);
    expect(byFormerId.json()).toMatchObject({ workflow_id: body.workflow_id });

    await ask(`/executions/${executionId}/signal`, { body: { response: 'yes' }, token: user });
    const ended = await waitUntilFinished(world.kube, { namespace: world.tenant, name: execution });
    expect(ended.status?.phase).toBe('completed');
  });

  it('WF-API-13 a moved workflow runs by its former id, and in a version from before', async () => {
    const name = `rerun-${suffix}`;
    const former = await registered(demo(name, { version: '1.0.0', output_template: { v: 'one' } }));
    await registered(demo(name, { version: '2.0.0', output_template: { v: 'two' } }));
    await move(`/${name}/promote`);
    for (const [body, want] of [
      [{ workflow: former }, 'two'],
      [{ workflow: name, version: '1.0.0' }, 'one'],
    ] as const) {
      const started = await ask('/executions', { body, token: user });
      expect(started.text).toContain('execution_id');
      const execution = await executionName(started.json()['execution_id']);
      const ended = await waitUntilFinished(world.kube, { namespace: world.tenant, name: execution });
      expect(ended.status?.final_output).toEqual({ v: want });
    }
  });

  it('WF-API-13 again changes nothing, on either replica', async () => {
    const name = `twice-${suffix}`;
    await registered(demo(name));
    const [first, second] = [await move(`/${name}/promote`), await move(`/${name}/promote`, {}, 1)];
    expect([second.status, second.text]).toEqual([200, first.text]);
  });

  it('WF-API-13 by twenty callers makes one global workflow', async () => {
    const name = `crowd-${suffix}`;
    await registered(demo(name));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => move(`/${name}/promote`, {}, index % 2)),
    );
    const { tenant, global } = await uids(name);
    expect(tenant).toBeUndefined();
    expect(answers.map((answer) => [answer.status, answer.json()['workflow_id']])).toEqual(
      answers.map(() => [200, global]),
    );
  });

  it('WF-API-13 that broke off between its two steps is finished by the next one, with what was registered since', async () => {
    const name = `broken-${suffix}`;
    const former = await registered(demo(name));
    const half = await objectOf(world.tenant, name);
    // State after a replica is killed that has registered the workflow there.
    const send = await createSend(kubeconfigPath());
    const registeredThere = {
      apiVersion: 'windlass.dev/v1',
      kind: 'Workflow',
      metadata: { name, namespace: globalNamespace, annotations: { [annotations.formerIds]: former } },
      spec: half?.spec,
    };
    const as = 'system:serviceaccount:windlass-system:windlass-api';
    const created = await send('POST', workflowsIn(globalNamespace), registeredThere, { as, rights: 'own' });
    expect(created.message).toBe('');
    const isStored = ({ status }: Workflow): boolean => status?.versions?.length === 1;
    await waitForObject(world.kube, { resource: workflows, namespace: globalNamespace, name }, isStored);
    const seen = await ask(`/${name}`, { token: user });
    expect(seen.json()).toMatchObject({ workflow_id: former, scope: 'tenant' });
    await registered(demo(name, { version: '1.1.0' }));
    const answer = await move(`/${name}/promote`);
    expect(answer.json()).toMatchObject({ name, version: '1.1.0', scope: 'global' });
    expect((await uids(name)).tenant).toBeUndefined();
    expect(await versionsOf(name)).toEqual(['1.1.0', '1.0.0']);
  });

  it('WF-API-13 over another global workflow is 409, and with force registers a newer version of it', async () => {
    const name = `taken-${suffix}`;
    await registered(demo(name, { version: '1.0.0' }), { query: '?scope=global', token: operator });
    const before = await uids(name);
    await registered(demo(name, { version: '2.0.0', description: 'of the tenant' }));
    const refused = await move(`/${name}/promote`);
    expect([refused.status, refused.json()['error']]).toEqual([409, 'conflict']);
    expect((await uids(name)).global).toBe(before.global);
    expect((await uids(name)).tenant).toBeDefined();
    const forced = await move(`/${name}/promote?force=true`);
    expect(forced.json()).toMatchObject({ workflow_id: before.global, version: '2.0.0', scope: 'global' });
    expect(await versionsOf(name)).toEqual(['2.0.0', '1.0.0']);
  });

  it('WF-API-13 moves a workflow of the operator’s own to the tenant', async () => {
    const name = `own-${suffix}`;
    const id = await registered(demo(name), { query: '?scope=user', token: operator });
    expect((await ask(`/${name}`, { token: user })).status).toBe(404);
    const answer = await move(`/${name}/promote?scope=tenant`);
    expect(answer.json()).toMatchObject({ name, scope: 'tenant' });
    expect((await ask(`/${name}`, { token: user })).json()).toMatchObject({ scope: 'tenant' });
    expect((await ask(`/${id}`, { token: user })).json()).toMatchObject({ metadata: { name } });
    expect((await ask(`?scope=user`)).json()).toMatchObject({ workflows: [] });
  });
});

describe('demoting', () => {
  it('WF-API-13 takes a global workflow into the tenant of the operator, and from every other', async () => {
    const name = `down-${suffix}`;
    const id = await registered(demo(name), { query: '?scope=global', token: operator });
    const answer = await move(`/${name}/demote`);
    expect(answer.json()).toMatchObject({ name, scope: 'tenant' });
    expect(await uids(name)).toEqual({ tenant: answer.json()['workflow_id'], global: undefined });
    expect((await ask(`/${name}`, { token: stranger })).status).toBe(404);
    expect((await ask(`/${id}`, { token: stranger }, 1)).status).toBe(404);
    expect((await ask(`/${id}`, { token: user }, 1)).json()).toMatchObject({ scope: 'tenant' });
  });

  it('WF-API-13 and back again keeps every id that it had', async () => {
    const name = `seesaw-${suffix}`;
    const ids = [await registered(demo(name))];
    for (const direction of ['promote', 'demote', 'promote']) {
      ids.push((await move(`/${name}/${direction}`)).json<{ workflow_id: string }>().workflow_id);
    }
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect((await ask(`/${id}`)).json()).toMatchObject({ workflow_id: ids.at(-1) });
  });

  it('WF-API-13 of a workflow beyond the scope is refused with the right command', async () => {
    const name = `narrow-${suffix}`;
    await registered(demo(name), { query: '?scope=user', token: operator });
    const refused = await move(`/${name}/demote`);
    expect(refused.json()).toEqual({
      error: 'conflict',
      code: 'conflict',
      message: 'the workflow is in the scope user; promote it instead',
    });
  });

  it.each(['?scope=global', '?scope=all', '?force=maybe', '?what=x'])('WF-API-13 refuses %s', async (query) => {
    const answer = await move(`/anything/demote${query}`);
    expect([answer.status, answer.json()['error']]).toEqual([400, 'invalid_request']);
  });

  it('WF-API-13 of an unknown name is 404', async () => {
    const { status, text } = await move('/nobody-has-it/demote');
    expect([status, text]).toEqual([
      404,
      expect.stringContaining('{"error":"Workflow not found","code":"workflow_not_found"'),
    ]);
  });
});

describe('an execution that has not begun', () => {
  it('WF-API-13 runs what its name or former id means when it begins', async () => {
    const name = `early-${suffix}`;
    const former = await registered(demo(name));
    const metadata = (kind: string) => ({ name: `${name}-${kind}`, namespace: world.tenant });
    await Promise.all([
      ...[former, name].map((workflow, index) =>
        world.kube.create(workflowExecutions, {
          apiVersion: 'windlass.dev/v1',
          kind: 'WorkflowExecution',
          metadata: metadata(`${index}`),
          spec: { workflow },
        }),
      ),
      move(`/${name}/promote`),
    ]);
    for (const kind of ['0', '1']) {
      const ended = await waitForObject(
        world.kube,
        { resource: workflowExecutions, ...metadata(kind) },
        ({ status }) => status?.finished_at !== undefined,
      );
      expect(ended.status?.phase).toBe('completed');
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Execution } from '../../../api/routes/executions/execution-object.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { createValidator } from '../../../crds/validators.ts';
import { resourceQuotas } from '../../../lib/kube/index.ts';
import { anEnd, anUpdate, aQuestion, aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import { waitUntilFinished, waitUntilWaiting } from '../harness/executions.ts';
import { workflowExecutions, workflows } from '../harness/kinds.ts';
import { pause, waitForObject } from '../harness/wait.ts';
import { type ApiWorld, type Received, type Sending, startApiWorld } from './harness/index.ts';

const base = '/v1/workflows/executions';
const unknownId = '6c0a3c52-8a52-4a8e-9c0e-6d7d6a0c9f11';
const notThere = {
  error: 'Execution not found',
  code: 'execution_not_found',
  message: 'The tenant has no execution of that id.',
};
const text = (length: number) => 'x'.repeat(length);

let world: ApiWorld;
let ada: string;
let sam: string;
let stranger: string;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'api-executions', replicas: 2 });
  ada = await world.token({ user: 'ada', tenant: world.tenant });
  sam = await world.token({ user: 'sam', tenant: world.tenant });
  stranger = await world.token({ user: 'eve', tenant: world.otherTenant });
  const strict = {
    type: 'object',
    required: ['name', 'n'],
    properties: { name: { type: 'string' }, n: { type: 'integer' } },
  };
  await Promise.all(
    [
      aWorkflow('hello')
        .with({ output_template: { greeting: 'Hello, {{input.name}}!' } })
        .state('end', anEnd()),
      aWorkflow('strict').with({ input_schema: strict }).state('end', anEnd()),
      aWorkflow('plain').state('end', anEnd()),
      aWorkflow('ask')
        .state('ask', aQuestion('Deploy {{input.what}}?', { yes: 'end', no: 'end' }))
        .state('end', anEnd()),
      aWorkflow('seeded')
        .with({ output_template: { seen: '{{blackboard.owner}} {{intent}}' } })
        .state('copy', anUpdate({ twice: '{{blackboard.owner}}{{blackboard.owner}}' }, 'end'))
        .state('end', anEnd()),
    ].map((builder) => register(builder.build())),
  );
});
afterAll(() => world?.close());

/** As kubectl would, and waits until it may run. */
async function register(workflow: Workflow, namespace = world.tenant): Promise<Workflow> {
  const { name } = workflow.metadata;
  const made = await world.kube.create(workflows, { ...workflow, metadata: { ...workflow.metadata, namespace } });
  const judged = ({ status }: Workflow) =>
    status?.conditions?.some(({ observedGeneration }) => observedGeneration === 1) ?? false;
  await waitForObject(world.kube, { resource: workflows, namespace, name }, judged);
  return made;
}

const ask = (path: string, sending: Sending = {}, replica = 0): Promise<Received> =>
  world.http(`${base}${path}`, { token: ada, ...sending }, replica);
const start = (body: unknown, sending: Sending = {}, replica = 0): Promise<Received> =>
  ask('', { body, ...sending }, replica);

async function started(body: unknown, sending: Sending = {}): Promise<string> {
  const answer = await start(body, sending);
  expect(answer.text).toMatch(/^\{"execution_id":"[0-9a-f-]{36}"\}$/);
  return answer.json<{ execution_id: string }>().execution_id;
}

async function objectOf(id: string): Promise<WorkflowExecution> {
  const { items } = await world.kube.listAll(workflowExecutions, { namespace: world.tenant });
  const found = items.find(({ metadata }) => metadata.uid === id);
  if (found === undefined) throw new Error(`no execution ${id}`);
  return found;
}

async function count(): Promise<number> {
  return (await world.kube.listAll(workflowExecutions, { namespace: world.tenant })).items.length;
}

async function finished(id: string): Promise<Record<string, unknown>> {
  const { metadata } = await objectOf(id);
  await waitUntilFinished(world.kube, { namespace: world.tenant, name: metadata.name });
  // The cache of each replica is a moment behind the cluster.
  await finishedAt(1, id);
  return await finishedAt(0, id);
}

async function finishedAt(replica: number, id: string): Promise<Record<string, unknown>> {
  for (;;) {
    const execution = (await ask(`/${id}`, {}, replica)).json();
    if (execution['completed_at'] !== null) return execution;
  }
}

describe('starting', () => {
  it('AMB-015 WF-API-02 WF-API-03 answers the id of an execution that runs, and reading it gives its output', async () => {
    const id = await started({ workflow: 'hello', input: { name: 'Ada' }, intent: 'greet' });
    const execution = await finished(id);
    expect(createValidator(Execution)(execution)).toEqual([]);
    expect(execution).toMatchObject({
      execution_id: id,
      workflow: 'hello',
      version: '1.0.0',
      status: 'completed',
      reason: 'Completed',
      current_state: 'end',
      transitions: 0,
      input: { name: 'Ada' },
      intent: 'greet',
      final_output: { greeting: 'Hello, Ada!' },
    });
    const { metadata, spec } = await objectOf(id);
    expect(metadata.annotations).toMatchObject({ 'windlass.dev/started-by': expect.stringMatching(/ada/) });
    expect(spec).toEqual({ workflow: 'hello', version: '1.0.0', input: { name: 'Ada' }, intent: 'greet' });
  });

  it('AMB-015 takes the id of a workflow, a version, seeds of the Blackboard and the life after the end', async () => {
    const { metadata } = await world.kube.get(workflows, { namespace: world.tenant, name: 'seeded' });
    const body = { workflow: metadata.uid, version: '1.0.0', blackboard: { owner: 'dba' }, intent: 'now' };
    const id = await started({ ...body, ttl_seconds_after_finished: 600 });
    expect(await finished(id)).toMatchObject({ blackboard: { twice: 'dbadba' }, final_output: { seen: 'dba now' } });
    expect((await objectOf(id)).spec).toMatchObject({ workflow: metadata.uid, ttl_seconds_after_finished: 600 });
  });

  it('AMB-154 can be read at once, on either replica, by id and by name', async () => {
    for (let round = 0; round < 20; round++) {
      const id = await started({ workflow: 'plain' });
      const [here, there] = await Promise.all([ask(`/${id}`), ask(`/${id}`, {}, 1)]);
      expect([here.status, there.status]).toEqual([200, 200]);
      expect((await ask(`/${here.json()['name'] as string}`, {}, 1)).json()).toMatchObject({ execution_id: id });
    }
  });

  it('WF-API-09 AMB-056 with an input that fails the schema answers every failing path and creates nothing', async () => {
    const before = await count();
    const answer = await start({ workflow: 'strict', input: { name: 5, n: 1.5 } });
    expect(answer.status).toBe(422);
    const { details, ...words } = answer.json<{ details: { path: string; message: string }[] }>();
    expect(words).toEqual({
      error: 'input validation failed',
      code: 'input_validation_failed',
      message: expect.any(String),
    });
    expect(Object.fromEntries(details.map(({ path, message }) => [path, message]))).toEqual({
      'input.name': 'must be string, not number',
      'input.n': 'must be integer, not number',
    });
    const nothing = await start({ workflow: 'strict' });
    expect(nothing.status).toBe(422);
    expect(nothing.json<{ details: unknown[] }>().details).toHaveLength(2);
    expect(await count()).toBe(before);
  });

  it('WF-API-10 without an input_schema accepts any input', async () => {
    for (const input of [undefined, {}, { a: [null, { b: 'ü' }], '': 0, constructor: 'x' }]) {
      expect(await finished(await started({ workflow: 'plain', input }))).toMatchObject({ input: input ?? {} });
    }
  });

  it.each([[[]], [null], ['a text'], [7], [false]])(
    'AMB-175 takes %j as input, under the field input',
    async (input) => {
      const id = await started({ workflow: 'plain', input });
      expect((await finished(id))['input']).toEqual({ input });
      expect((await objectOf(id)).spec.input).toEqual({ input });
    },
  );

  it.each([
    ['an unknown workflow', { workflow: 'nobody' }, 'Workflow not found', 'workflow_not_found'],
    ['an unknown id', { workflow: unknownId }, 'Workflow not found', 'workflow_not_found'],
    ['no possible name', { workflow: '../../etc' }, 'Workflow not found', 'workflow_not_found'],
    ['an unknown version', { workflow: 'hello', version: '9.9.9' }, 'Version not found', 'version_not_found'],
    ['no possible version', { workflow: 'hello', version: "1.0.0' or 1" }, 'Version not found', 'version_not_found'],
  ])('AMB-015 of %s is 404', async (_title, body, error, code) => {
    const answer = await start(body);
    expect(answer.status).toBe(404);
    expect(answer.json()).toEqual({ error, code, message: expect.any(String) });
  });

  it("of another tenant's workflow is answered exactly as of one that is not there", async () => {
    const foreign = await start({ workflow: 'hello' }, { token: stranger });
    const { metadata } = await world.kube.get(workflows, { namespace: world.tenant, name: 'hello' });
    const byId = await start({ workflow: metadata.uid }, { token: stranger });
    const unknown = await start({ workflow: unknownId }, { token: stranger });
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    expect([byId.status, byId.text]).toEqual([404, unknown.text]);
  });

  it('of a workflow that is not valid is 422 with the reason', async () => {
    await register(
      aWorkflow('broken')
        .state('a', anUpdate({ x: '{{#if}}' }))
        .build(),
    );
    const before = await count();
    const answer = await start({ workflow: 'broken' });
    expect(answer.status).toBe(422);
    expect(answer.json()).toEqual({
      error: 'workflow_not_ready',
      code: 'workflow_not_ready',
      message: expect.stringContaining('InvalidDefinition'),
    });
    expect(await count()).toBe(before);
  });

  it('is 422 where the quota of the tenant is used up, or the execution would be too large to be stored', async () => {
    const namespace = world.otherTenant;
    await register(aWorkflow('full').state('end', anEnd()).build(), namespace);
    const spec = { hard: { 'count/workflowexecutions.windlass.dev': '0' } };
    await world.kube.create(resourceQuotas, { metadata: { name: 'none', namespace }, spec });
    await waitForObject(
      world.kube,
      { resource: resourceQuotas, namespace, name: 'none' },
      ({ status }) => status?.hard !== undefined,
    );
    // The server may have to count first, and the answer is 503 until it has.
    let full = await start({ workflow: 'full' }, { token: stranger });
    for (let again = 0; again < 50 && full.status === 503; again++) {
      await pause(100);
      full = await start({ workflow: 'full' }, { token: stranger });
    }
    expect([full.status, full.json()]).toMatchObject([
      422,
      { error: 'limit_exceeded', message: expect.stringContaining('quota') },
    ]);
    // Kubernetes writes each of these as six characters.
    const sized = (length: number) => start({ workflow: 'plain', input: { a: '<'.repeat(length) } });
    for (const length of [1_000_000, 186_000]) {
      const large = await sized(length);
      expect([large.status, large.json()]).toMatchObject([
        422,
        { error: 'limit_exceeded', message: expect.stringContaining('too large to be stored') },
      ]);
    }
    const largest = (await sized(185_000)).json<{ execution_id: string }>();
    expect(await finished(largest.execution_id)).toMatchObject({ status: 'completed' });
  });

  it('in a tenant without a namespace is 404', async () => {
    const token = await world.token({ user: 'kim', tenant: 'nobody-set-this-up' });
    const answer = await start({ workflow: 'hello' }, { token });
    expect([answer.status, answer.json()]).toEqual([
      404,
      {
        error: 'Tenant not found',
        code: 'tenant_not_found',
        message: 'The tenant, or the global scope, has no namespace in this cluster.',
      },
    ]);
  });

  it('needs a token', async () => {
    expect((await world.http(base, { body: { workflow: 'hello' } })).status).toBe(401);
  });
});

describe('starting once', () => {
  const key = (text: string) => ({ 'idempotency-key': text });

  it('the same key and body are answered with the same id, on any replica and whatever the order of the keys', async () => {
    const body = { workflow: 'hello', input: { name: 'Ada', n: 1 } };
    const id = await started(body, { headers: key('k1') });
    const again = await start({ input: { n: 1, name: 'Ada' }, workflow: 'hello' }, { headers: key('k1') }, 1);
    expect(again.json()).toEqual({ execution_id: id });
  });

  it('of fifty at the same time on two replicas, one execution is made', async () => {
    const before = await count();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => start({ workflow: 'plain' }, { headers: key('fifty') }, index % 2)),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await count()).toBe(before + 1);
  });

  it('another body under the key is 422, and the first execution stays', async () => {
    const id = await started({ workflow: 'plain' }, { headers: key('k2') });
    const other = await start({ workflow: 'plain', input: { a: 1 } }, { headers: key('k2') });
    expect([other.status, other.json()]).toEqual([
      422,
      {
        error: 'idempotency_key_reused',
        code: 'idempotency_key_reused',
        message: expect.any(String),
      },
    ]);
    expect((await start({ workflow: 'plain' }, { headers: key('k2') })).json()).toEqual({ execution_id: id });
  });

  it('another caller may use the same key', async () => {
    const mine = await started({ workflow: 'plain' }, { headers: key('k3') });
    const theirs = await started({ workflow: 'plain' }, { headers: key('k3'), token: sam });
    expect(mine).not.toBe(theirs);
  });

  it('is answered alike when the workflow is gone meanwhile', async () => {
    await register(aWorkflow('passing').state('end', anEnd()).build());
    const id = await started({ workflow: 'passing' }, { headers: key('k4') });
    await world.kube.delete(workflows, { namespace: world.tenant, name: 'passing' });
    expect((await start({ workflow: 'passing' }, { headers: key('k4') })).json()).toEqual({ execution_id: id });
  });

  it('a name takes the place of a key, and is what the execution is called', async () => {
    const before = await count();
    const body = { workflow: 'plain', name: 'my-start' };
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => start(body, {}, index % 2)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(await count()).toBe(before + 1);
    expect((await ask('/my-start')).json()).toMatchObject({ ...answers[0]?.json(), name: 'my-start' });
  });

  it.each<[title: string, body: object, token: () => string]>([
    ['another body', { workflow: 'plain', input: { a: 1 } }, () => ada],
    ['another caller', { workflow: 'plain' }, () => sam],
    ['another key', { workflow: 'plain' }, () => ada],
  ])('%s under a name is 409, and the first execution stays', async (title, body, token) => {
    const name = `taken-${title.replace(' ', '-')}`;
    const headers = key('first');
    const id = await started({ workflow: 'plain', name }, { headers });
    const second = title === 'another key' ? key('second') : headers;
    const other = await start({ ...body, name }, { token: token(), headers: second });
    expect([other.status, other.json()]).toEqual([
      409,
      { error: 'already_exists', code: 'already_exists', message: expect.any(String) },
    ]);
    expect((await start({ workflow: 'plain', name }, { headers })).json()).toEqual({ execution_id: id });
  });

  it.each([
    ['empty', ''],
    ['too long', text(1_025)],
  ])('a key that is %s is 400', async (_title, value) => {
    expect((await start({ workflow: 'plain' }, { headers: key(value) })).status).toBe(400);
  });

  it('a key of the longest length is taken, two keys are 400', async () => {
    expect((await start({ workflow: 'plain' }, { headers: key(text(1_024)) })).status).toBe(200);
    const twice = [
      ['idempotency-key', 'a'],
      ['idempotency-key', 'b'],
    ] as const;
    expect((await start({ workflow: 'plain' }, { headers: twice })).status).toBe(400);
  });
});

describe('bodies of a start that are not of the form', () => {
  it.each<[title: string, body: unknown]>([
    ['nothing', ''],
    ['no JSON', '{'],
    ['a list', []],
    ['a text', '"x"'],
    ['null', 'null'],
    ['no workflow', {}],
    ['a null workflow', { workflow: null }],
    ['a number as workflow', { workflow: 5 }],
    ['an empty workflow', { workflow: '' }],
    ['a long workflow', { workflow: text(254) }],
    ['an empty name', { workflow: 'plain', name: '' }],
    ['a name of 64', { workflow: 'plain', name: 'a'.repeat(64) }],
    ['a name with capitals', { workflow: 'plain', name: 'Mine' }],
    ['a name that ends in a dash', { workflow: 'plain', name: 'mine-' }],
    ['an unknown field', { workflow: 'plain', signals: [] }],
    ['a parent', { workflow: 'plain', parent: { name: 'x', uid: 'y', state: 's', visit: 1, depth: 1 } }],
    ['a number as intent', { workflow: 'plain', intent: 5 }],
    ['a long intent', { workflow: 'plain', intent: text(65_537) }],
    ['a negative life', { workflow: 'plain', ttl_seconds_after_finished: -1 }],
    ['too long a life', { workflow: 'plain', ttl_seconds_after_finished: 31_536_001 }],
    ['a broken life', { workflow: 'plain', ttl_seconds_after_finished: 1.5 }],
    ['a list as Blackboard', { workflow: 'plain', blackboard: [] }],
    [
      'too many seeds',
      { workflow: 'plain', blackboard: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`k${n}`, n])) },
    ],
    ['the same key twice', '{"workflow":"plain","workflow":"hello"}'],
    ['__proto__', '{"workflow":"plain","input":{"__proto__":{"a":1}}}'],
    ['deep nesting', `{"workflow":"plain","input":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`],
    ['a number beyond exactness', '{"workflow":"plain","input":{"a":12345678901234567890}}'],
    ['half a character', '{"workflow":"plain","input":{"a":"\\ud800"}}'],
  ])('%s is 400 in less than a second, and nothing is created', async (_title, body) => {
    const before = await count();
    const begun = performance.now();
    const headers = { 'content-type': 'application/json' };
    const answer = await start(typeof body === 'string' ? body : JSON.stringify(body), { method: 'POST', headers });
    expect([answer.status, answer.json()['error']]).toEqual([400, 'invalid_request']);
    expect(performance.now() - begun).toBeLessThan(1_000);
    expect(await count()).toBe(before);
  });

  it('the largest of each is accepted', async () => {
    const blackboard = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`k${n}`, n]));
    const body = { workflow: 'plain', intent: 'ü'.repeat(65_536), blackboard, ttl_seconds_after_finished: 31_536_000 };
    expect(await finished(await started(body))).toMatchObject({ status: 'completed' });
  });

  it('AMB-153 more than a mebibyte is 413, almost as much is started', async () => {
    expect((await start({ workflow: 'plain', input: { a: text(1_048_576) } })).status).toBe(413);
    expect((await start({ workflow: 'plain', input: { a: text(1_000_000) } })).status).toBe(200);
  });
});

describe('reading', () => {
  it.each([
    'x',
    unknownId,
    unknownId.toUpperCase(),
    `${unknownId}0`,
    '00000000-0000-0000-0000-000000000000',
    '%00',
    '..%2f..%2fsecrets',
    '%F0%9F%92%A9',
    'constructor',
    text(1_000),
  ])('an id %s of no execution is 404', async (id) => {
    for (const [path, sending] of [
      [`/${id}`, {}],
      [`/${id}?full=true`, {}],
      [`/${id}/stream`, {}],
      [`/${id}/logs`, {}],
      [`/${id}/cancel`, { body: {} }],
      [`/${id}/signal`, { body: { response: 'yes' } }],
    ] as const) {
      const answer = await ask(path, sending);
      expect([path, answer.status, answer.json()]).toEqual([path, 404, notThere]);
    }
  });

  it("another tenant's execution is answered exactly as one that is not there, by every route", async () => {
    const id = await started({ workflow: 'ask', input: { what: 'it' } });
    const { metadata } = await objectOf(id);
    await waitUntilWaiting(world.kube, { namespace: world.tenant, name: metadata.name, state: 'ask' });
    for (const own of [id, metadata.name]) {
      for (const [path, sending] of [
        [`/${own}`, {}],
        [`/${own}/stream`, {}],
        [`/${own}/logs`, {}],
        [`/${own}/cancel`, { body: {} }],
        [`/${own}/signal`, { body: { response: 'yes' } }],
      ] as const) {
        const answer = await ask(path, { ...sending, token: stranger });
        expect([answer.status, answer.json()]).toEqual([404, notThere]);
      }
    }
    expect((await ask('', { token: stranger })).json()).toEqual({ executions: [], next_cursor: null });
    const { spec } = await objectOf(id);
    expect([spec.cancel, spec.signals]).toEqual([undefined, undefined]);
  });

  it('WF-API-04 WF-API-05 final_output is null without a template and until the end', async () => {
    const id = await started({ workflow: 'ask', input: { what: 'it' } });
    expect((await ask(`/${id}`)).json()).toMatchObject({ final_output: null, completed_at: null });
    expect(await finished(await started({ workflow: 'plain' }))).toMatchObject({
      status: 'completed',
      final_output: null,
    });
  });

  it('AMB-154 AMB-187 large values are references but for final_output, and full=true puts them in their places', async () => {
    const big = 'é'.repeat(20_000);
    await register(
      aWorkflow('large')
        .with({ output_template: { all: '{{blackboard.copy}}{{blackboard.copy}}' } })
        .state('save', anUpdate({ copy: '{{input.big}}', small: 'x' }, 'end'))
        .state('end', anEnd())
        .build(),
    );
    const id = await started({ workflow: 'large', input: { big } });
    const short = await finished(id);
    const reference = { ref: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 40_000, truncated: false };
    expect(short).toMatchObject({ blackboard: { copy: reference, small: 'x' } });
    expect(short['final_output']).toEqual({ all: big + big });
    const { executions } = (await ask('?workflow=large')).json<{ executions: Record<string, unknown>[] }>();
    expect(executions.map(({ execution_id }) => execution_id)).toEqual([id]);
    expect(executions[0]).not.toHaveProperty('final_output');
    for (const replica of [0, 1]) {
      const full = await ask(`/${id}?full=true`, {}, replica);
      expect(full.json()).toEqual({
        ...short,
        blackboard: { ...(short['blackboard'] as object), copy: big },
        final_output: { all: big + big },
      });
    }
    expect((await ask(`/${id}?full=false`)).json()).toEqual(short);
    expect((await ask(`/${id}?full=yes`)).status).toBe(400);
    expect((await ask(`/${id}?fully=true`)).status).toBe(400);
  });
});

describe('listing', () => {
  it('the newest first, by pages that stay right while executions come and go', async () => {
    await register(aWorkflow('listed').state('end', anEnd()).build());
    const ids: string[] = [];
    for (let index = 0; index < 12; index++) ids.push(await started({ workflow: 'listed' }));
    await Promise.all(ids.map(finished));
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; page < 10; page++) {
      const answer = await ask(`?workflow=listed&limit=5${cursor}`, {}, page % 2);
      const { executions, next_cursor } = answer.json<{
        executions: { execution_id: string; created_at: string }[];
        next_cursor: string | null;
      }>();
      const times = executions.map(({ created_at }) => created_at);
      expect(times).toEqual(times.toSorted().toReversed());
      seen.push(...executions.map(({ execution_id }) => execution_id));
      if (next_cursor === null) break;
      cursor = `&cursor=${next_cursor}`;
      await started({ workflow: 'listed' });
      const gone = await objectOf(executions[0]?.execution_id ?? '');
      await world.kube.delete(workflowExecutions, { namespace: world.tenant, name: gone.metadata.name });
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(ids.filter((id) => !seen.includes(id))).toEqual([]);
  });

  it('only those of a workflow, by name or id, or in a status', async () => {
    const id = await started({ workflow: 'ask', input: { what: 'it' } });
    const { metadata } = await objectOf(id);
    await waitUntilWaiting(world.kube, { namespace: world.tenant, name: metadata.name, state: 'ask' });
    const { metadata: workflow } = await world.kube.get(workflows, { namespace: world.tenant, name: 'ask' });
    for (const filter of [
      'workflow=ask',
      `workflow=${workflow.uid}`,
      'status=waiting',
      'workflow=ask&status=waiting',
    ]) {
      const { executions } = (await ask(`?${filter}`)).json<{ executions: Record<string, unknown>[] }>();
      expect(executions.map(({ execution_id }) => execution_id)).toContain(id);
      expect(new Set(executions.map((one) => one['workflow']))).toEqual(new Set(['ask']));
    }
    expect((await ask('?workflow=ask&status=failed')).json()).toEqual({ executions: [], next_cursor: null });
    expect((await ask('?workflow=nobody')).json()).toEqual({ executions: [], next_cursor: null });
  });

  it.each([
    'limit=0',
    'limit=-1',
    'limit=x',
    'limit=1.5',
    'status=done',
    'status=',
    'cursor=x',
    'cursor=',
    'workflow=',
    'page=2',
    'limit=1&limit=2',
  ])('%s is 400', async (query) => {
    expect((await ask(`?${query}`)).status).toBe(400);
  });

  it('a limit above 200 counts as 200', async () => {
    expect((await ask('?limit=201')).status).toBe(200);
    expect((await ask('?limit=999999')).status).toBe(200);
  });
});

/** An execution that waits for an answer. */
async function waiting(): Promise<string> {
  const id = await started({ workflow: 'ask', input: { what: 'it' } });
  const { metadata } = await objectOf(id);
  await waitUntilWaiting(world.kube, { namespace: world.tenant, name: metadata.name, state: 'ask' });
  return id;
}

describe('signalling', () => {
  it('WF-API-07 AMB-055 resumes the state that waits, in the name of the caller', async () => {
    const id = await waiting();
    const answer = await ask(`/${id}/signal`, { body: { response: 'yes', feedback: 'fine' }, token: sam }, 1);
    expect([answer.status, answer.text]).toEqual([200, '{"status":"signaled"}']);
    expect(await finished(id)).toMatchObject({ status: 'completed' });
    const { spec } = await objectOf(id);
    expect(spec.signals).toMatchObject([{ id: 'ask-1', response: 'yes', feedback: 'fine', via: 'api' }]);
    expect(spec.signals?.[0]?.by).toMatch(/sam/);
  });

  it('AMB-055 what does not wait is 409 with what it does', async () => {
    const id = await started({ workflow: 'plain' });
    await finished(id);
    const answer = await ask(`/${id}/signal`, { body: { response: 'yes' } });
    expect([answer.status, answer.json()]).toMatchObject([
      409,
      { error: 'conflict', message: expect.stringContaining('not waiting for a decision: it is completed') },
    ]);
  });

  it('an answer that means another state is 409 with the one that waits', async () => {
    const id = await waiting();
    const answer = await ask(`/${id}/signal`, { body: { response: 'yes', state: 'deploy' } });
    expect([answer.status, answer.json()['message']]).toMatchObject([
      409,
      expect.stringContaining("waits in state 'ask'"),
    ]);
    expect((await ask(`/${id}/signal`, { body: { response: 'no', state: 'ask' } })).status).toBe(200);
  });

  it('WF-API-07 of a hundred answers at the same time on two replicas exactly one is taken', async () => {
    const id = await waiting();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        ask(`/${id}/signal`, { body: { response: index % 2 === 0 ? 'yes' : 'no', feedback: `${index}` } }, index % 2),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(99);
    await finished(id);
    const { spec } = await objectOf(id);
    expect(spec.signals).toHaveLength(1);
    expect(spec.signals?.[0]?.feedback).toBe(`${statuses.indexOf(200)}`);
  });

  it.each<[title: string, body: unknown]>([
    ['nothing', ''],
    ['no response', {}],
    ['a null response', { response: null }],
    ['a number', { response: 1 }],
    ['a response that is too long', { response: text(65_537) }],
    ['an author', { response: 'yes', by: 'root' }],
    ['a channel', { response: 'yes', via: 'kubectl' }],
  ])('%s is 400, and nothing is decided', async (_title, body) => {
    const id = await waiting();
    const headers = { 'content-type': 'application/json' };
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    expect((await ask(`/${id}/signal`, { method: 'POST', body: sent, headers })).status).toBe(400);
    expect((await objectOf(id)).spec.signals).toBeUndefined();
  });

  it('AMB-170 a response that no rule takes is 422 with the matching ones, and the state still waits', async () => {
    const id = await waiting();
    for (const response of ['maybe', text(65_536)]) {
      const answer = await ask(`/${id}/signal`, { body: { response } });
      expect([answer.status, answer.json()]).toEqual([
        422,
        {
          error: 'unmatched_response',
          code: 'unmatched_response',
          message: expect.stringContaining('approved, rejected'),
          responses: ['approved', 'rejected'],
        },
      ]);
    }
    expect((await objectOf(id)).spec.signals).toBeUndefined();
    expect((await ask(`/${id}`)).json()).toMatchObject({ status: 'waiting', current_state: 'ask' });
  });

  it('the longest response is taken where a rule takes any', async () => {
    const anything = { ...aQuestion('Say anything.', { yes: 'end', no: 'end' }), transitions: [{ target: 'end' }] };
    await register(aWorkflow('anything').state('ask', anything).state('end', anEnd()).build());
    const id = await started({ workflow: 'anything' });
    const { metadata } = await objectOf(id);
    await waitUntilWaiting(world.kube, { namespace: world.tenant, name: metadata.name, state: 'ask' });
    expect((await ask(`/${id}/signal`, { body: { response: text(65_536) } })).status).toBe(200);
    expect(await finished(id)).toMatchObject({ status: 'completed' });
  });
});

describe('cancelling', () => {
  it('AMB-014 stops an execution in the name of the caller; again changes nothing', async () => {
    const id = await waiting();
    const first = await ask(`/${id}/cancel`, { body: { reason: 'wrong branch' }, token: sam }, 1);
    const record = { by: expect.stringMatching(/sam/), at: expect.any(String) };
    const status = expect.stringMatching(/^cancell(ing|ed)$/);
    expect([first.status, first.json()]).toEqual([200, { status, ...record }]);
    const execution = await finished(id);
    expect(execution).toMatchObject({ status: 'cancelled', message: expect.stringContaining('wrong branch') });
    for (const replica of [0, 1]) {
      const again = await ask(`/${id}/cancel`, { method: 'POST' }, replica);
      expect([again.status, again.json()]).toEqual([200, { status: 'cancelled', ...record }]);
    }
    const { spec } = await objectOf(id);
    expect(spec.cancel).toMatchObject({ reason: 'wrong branch', by: expect.stringMatching(/sam/) });
  });

  it('of many at the same time all are answered alike, and one is recorded', async () => {
    const id = await waiting();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => ask(`/${id}/cancel`, { body: { reason: `${index}` } }, index % 2)),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await finished(id)).toMatchObject({ status: 'cancelled' });
  });

  it('what has completed is 409', async () => {
    const id = await started({ workflow: 'plain' });
    await finished(id);
    const answer = await ask(`/${id}/cancel`, { body: {} });
    expect([answer.status, answer.json()]).toMatchObject([
      409,
      { error: 'conflict', message: expect.stringContaining('cannot be cancelled: it has completed') },
    ]);
  });

  it('a reason that is too long, or no text, is 400', async () => {
    const id = await waiting();
    for (const body of [{ reason: text(1_025) }, { reason: 5 }, { why: 'x' }, []]) {
      expect((await ask(`/${id}/cancel`, { body })).status).toBe(400);
    }
    expect((await objectOf(id)).spec.cancel).toBeUndefined();
    expect((await ask(`/${id}/cancel`, { body: { reason: text(1_024) } })).status).toBe(200);
  });
});

describe('a replica that is killed', () => {
  it('loses none of 200 parallel starts that it acknowledged, and doubles none', async () => {
    await register(aWorkflow('many').state('end', anEnd()).build());
    const acknowledged = new Map<number, string>();
    const attempt = async (index: number): Promise<void> => {
      for (let replica = index % 2; ; replica = 1 - replica) {
        const headers = { 'idempotency-key': `many-${index}` };
        const answer = await start({ workflow: 'many' }, { headers }, replica).catch(() => undefined);
        if (answer?.status !== 200) continue;
        acknowledged.set(index, answer.json<{ execution_id: string }>().execution_id);
        return;
      }
    };
    const all = Promise.all(Array.from({ length: 200 }, (_, index) => attempt(index)));
    while (acknowledged.size < 30) await new Promise((resolve) => setTimeout(resolve, 5));
    await world.replicas[1]?.kill();
    await world.replicas[1]?.start();
    await all;
    const { items } = await world.kube.listAll(workflowExecutions, { namespace: world.tenant });
    const made = items.filter(({ spec }) => spec.workflow === 'many').map(({ metadata }) => metadata.uid);
    expect(made).toHaveLength(200);
    expect(new Set(acknowledged.values())).toEqual(new Set(made));
  });
});

describe('logs', () => {
  const noise = (bytes: number) =>
    `head -c ${bytes} /dev/urandom >noise; cat noise; sha256sum <noise | cut -c 1-64 >&2`;

  it('of a finished command come from the store byte for byte, each stream by itself', async () => {
    await register(
      aWorkflow('noisy')
        .state('big', aScript(noise(100_000), { next: 'small' }))
        .state('small', aScript("printf 'a\\nb'; printf 'c\\r\\n' >&2"))
        .build(),
    );
    const id = await started({ workflow: 'noisy' });
    expect(await finished(id)).toMatchObject({ status: 'completed' });
    const bytes = async (query: string): Promise<Buffer> => {
      const response = await fetch(`${world.replicas[1]?.url}${base}/${id}/logs?${query}`, {
        headers: { authorization: `Bearer ${ada}` },
      });
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      return Buffer.from(await response.arrayBuffer());
    };
    const stdout = await bytes('state=big&stream=stdout');
    const { createHash } = await import('node:crypto');
    expect(stdout.byteLength).toBe(100_000);
    const hash = createHash('sha256').update(stdout).digest('hex');
    expect((await bytes('state=big&stream=stderr')).toString()).toBe(`${hash}\n`);
    expect((await bytes('state=small&visit=1')).toString()).toBe('a\nbc\r\n');
    expect((await bytes('state=small&stream=stdout')).toString()).toBe('a\nb');
    expect((await bytes('')).byteLength).toBe(100_000 + 65 + 6);
    expect((await bytes('follow=true')).byteLength).toBe(100_000 + 65 + 6);
  });

  it('of a running command are followed to its end, with nothing twice', async () => {
    await register(
      aWorkflow('slow')
        .state('count', aScript('for n in 1 2 3 4; do echo out $n; echo err $n >&2; sleep 0.5; done', { next: 'last' }))
        .state('last', aScript('echo done'))
        .build(),
    );
    const id = await started({ workflow: 'slow' });
    const follow = (query: string) => ask(`/${id}/logs?follow=true${query}`);
    const [both, out, last] = await Promise.all([
      follow(''),
      follow('&state=count&stream=stdout'),
      follow('&state=last'),
    ]);
    expect(out.text).toBe('out 1\nout 2\nout 3\nout 4\n');
    expect(last.text).toBe('done\n');
    expect(both.text.split('\n').toSorted().join(' ')).toBe(' done err 1 err 2 err 3 err 4 out 1 out 2 out 3 out 4');
    const execution = await finished(id);
    expect(execution).toMatchObject({ status: 'completed' });
  });

  it('of steps that run side by side, each by itself', async () => {
    const step = (name: string) => ({
      name,
      image: 'docker.io/library/busybox:1.36',
      command: ['sh', '-c', `echo ${name}`],
    });
    await register(
      aWorkflow('side')
        .state('both', { kind: 'ParallelContainerRun', steps: [step('unit'), step('lint')], transitions: [] })
        .build(),
    );
    const id = await started({ workflow: 'side' });
    expect((await ask(`/${id}/logs?follow=true&state=both&step=unit`)).text).toBe('unit\n');
    await finished(id);
    expect((await ask(`/${id}/logs?step=lint`)).text).toBe('lint\n');
    expect((await ask(`/${id}/logs`)).text.split('\n').toSorted().join(' ').trim()).toBe('lint unit');
    const unknown = await ask(`/${id}/logs?step=nope`);
    expect([unknown.status, unknown.json()]).toMatchObject([
      404,
      { error: 'log_not_found', message: expect.stringContaining('both step lint') },
    ]);
  });

  it.each(['visit=0', 'visit=21', 'visit=x', 'stream=both', 'stream=', 'follow=1', 'state=', 'tail=5'])(
    '%s is 400',
    async (query) => {
      const id = await started({ workflow: 'plain' });
      expect((await ask(`/${id}/logs?${query}`)).status).toBe(400);
    },
  );

  it('a reader who leaves while following costs the API nothing more', async () => {
    const id = await waiting();
    const over = new AbortController();
    const reading = ask(`/${id}/logs?follow=true`, { signal: over.signal });
    await new Promise((resolve) => setTimeout(resolve, 300));
    over.abort();
    await expect(reading).rejects.toThrow(/abort/i);
    expect((await ask(`/${id}/cancel`, { method: 'POST' })).status).toBe(200);
  });
});

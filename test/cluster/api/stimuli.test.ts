import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resourceQuotas } from '../../../lib/kube/index.ts';
import { waitUntilFinished } from '../harness/executions.ts';
import { workflows } from '../harness/kinds.ts';
import { type Accepted, type StimuliWorld, startStimuliWorld } from './stimuli-world.ts';

let world: StimuliWorld;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

beforeAll(async () => {
  world = await startStimuliWorld([], { purpose: 'stimuli', replicas: 2 });
  await world.workflow('answer');
  await world.workflow('strict', {
    input_schema: {
      type: 'object',
      required: ['ticket'],
      properties: { ticket: { type: 'integer' }, to: { type: 'string' } },
    },
  });
  await world.router('routes', {
    routes: { http_api: 'answer', tickets: 'answer', typed: 'strict', gone: 'nowhere' },
  });
});

afterAll(() => world.close());

const named = async (id: string) => {
  const found = (await world.executions()).find(({ metadata }) => metadata.uid === id);
  if (found === undefined) throw new Error(`no execution has the id ${id}`);
  return found;
};

describe('POST /v1/stimuli', () => {
  it('STIM-08 STIM-09 STIM-12 ROUTE-11 starts the workflow of the route, which runs to its end', async () => {
    const answer = await world.submit({ source: 'http_api', content: 'The login page is down.' });
    expect(answer.status).toBe(200);
    const { stimulus_id: stimulusId, workflow_execution_id: id } = answer.json<Accepted>();
    expect([stimulusId, id]).toEqual([expect.stringMatching(uuid), expect.stringMatching(uuid)]);
    const { metadata, spec } = await named(id);
    expect(metadata.labels).toMatchObject({
      'windlass.dev/stimulus': stimulusId,
      'windlass.dev/stimulus-source': 'http_api',
      'windlass.dev/workflow': 'answer',
    });
    expect(spec).toMatchObject({
      workflow: 'answer',
      input: { content: 'The login page is down.' },
      intent: 'The login page is down.',
    });
    const ended = await waitUntilFinished(world.kube, { namespace: world.tenant, name: metadata.name });
    expect(ended.status?.phase).toBe('completed');
  });

  it('AMB-041 AMB-145 takes JSON content as the input, and tells the Blackboard where it came from', async () => {
    const answer = await world.submit(
      { source: 'tickets', content: '{"ticket": 7, "tags": ["a", null]}' },
      { headers: { 'X-Custom': 'yes', Cookie: 'session=secret' } },
    );
    const { stimulus_id: stimulusId, workflow_execution_id: id } = answer.json<Accepted>();
    const { spec } = await named(id);
    expect(spec.input).toEqual({ ticket: 7, tags: ['a', null] });
    expect(spec).not.toHaveProperty('intent');
    const seed = spec.blackboard?.['stimulus'] as { headers: Record<string, string>; received_at: string };
    expect(seed).toMatchObject({ id: stimulusId, source: 'tickets', headers: { 'x-custom': 'yes' } });
    expect(Date.parse(seed.received_at)).toBeGreaterThan(Date.now() - 60_000);
    expect(JSON.stringify(spec)).not.toMatch(/Bearer|session=secret/);
  });

  it('STIM-09 takes content without a character', async () => {
    const answer = await world.submit({ source: 'http_api', content: '' });
    expect(answer.status).toBe(200);
    const { metadata, spec } = await named(answer.json<Accepted>().workflow_execution_id);
    expect(spec.input).toEqual({ content: '' });
    const ended = await waitUntilFinished(world.kube, { namespace: world.tenant, name: metadata.name });
    expect(ended.status?.phase).toBe('completed');
  });

  it('STIM-37 runs twice what is sent twice without a key', async () => {
    const answers = await Promise.all([1, 2].map(() => world.submit({ source: 'http_api', content: 'twice' })));
    const ids = answers.map((answer) => answer.json<Accepted>().workflow_execution_id);
    expect(new Set(ids).size).toBe(2);
  });

  it('a service account names the tenant in a header', async () => {
    const token = await world.token({ serviceAccount: 'bot' });
    const sending = { token, headers: { 'X-Tenant-Id': world.tenant }, body: { source: 'http_api', content: 'x' } };
    expect((await world.http('/v1/stimuli', sending)).status).toBe(200);
    const { headers: _, ...unscoped } = sending;
    expect((await world.http('/v1/stimuli', unscoped)).json()).toMatchObject({ error: 'no_router_configured' });
  });

  it('AMB-024 needs a token', async () => {
    const { status, text } = await world.http('/v1/stimuli', { body: { source: 'http_api', content: 'x' } });
    expect([status, text]).toEqual([401, expect.stringContaining('{"error":"unauthorized","code":"unauthorized"')]);
  });

  it.each<[title: string, body: unknown, path: string]>([
    ['no source', { content: 'x' }, 'body.source'],
    ['no content', { source: 'http_api' }, 'body.content'],
    ['an empty source', { source: '', content: 'x' }, 'body.source'],
    ['a source with a blank', { source: 'a b', content: 'x' }, 'body.source'],
    ['a source of 64 characters', { source: 'a'.repeat(64), content: 'x' }, 'body.source'],
    ['content that is no text', { source: 'http_api', content: { a: 1 } }, 'body.content'],
    ['content null', { source: 'http_api', content: null }, 'body.content'],
    ['an empty key', { source: 'http_api', content: 'x', idempotency_key: '' }, 'body.idempotency_key'],
    [
      'a key of 1025 characters',
      { source: 'http_api', content: 'x', idempotency_key: 'k'.repeat(1_025) },
      'body.idempotency_key',
    ],
    ['an unknown field', { source: 'http_api', content: 'x', key: 'k' }, 'body.key'],
  ])('refuses %s', async (_title, body, path) => {
    const answer = await world.submit(body);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'invalid_request' });
    expect(answer.json<{ details: { path: string }[] }>().details.map((detail) => detail.path)).toContain(path);
  });
});

describe('an idempotency key', () => {
  const content = 'once';

  it('STIM-10 STIM-31 ROUTE-09 refuses the second stimulus, through the other replica too, and names the first', async () => {
    const first = await world.submit({ source: 'http_api', content, idempotency_key: 'a' });
    const { stimulus_id: original } = first.json<Accepted>();
    for (const replica of [0, 1]) {
      const second = await world.submit({ source: 'http_api', content, idempotency_key: 'a' }, { replica });
      expect(second.status).toBe(409);
      expect(second.json()).toMatchObject({ error: 'idempotent_duplicate', original_stimulus_id: original });
    }
  });

  it('STIM-11 AMB-040 may be in a header, in the body, or the same in both', async () => {
    const headers = { 'Idempotency-Key': 'b' };
    expect((await world.submit({ source: 'http_api', content }, { headers })).status).toBe(200);
    expect((await world.submit({ source: 'http_api', content, idempotency_key: 'b' })).status).toBe(409);
    expect((await world.submit({ source: 'http_api', content, idempotency_key: 'b' }, { headers })).status).toBe(409);
    const differs = await world.submit({ source: 'http_api', content, idempotency_key: 'c' }, { headers });
    expect(differs.status).toBe(400);
    expect((await world.submit({ source: 'http_api', content, idempotency_key: 'c' })).status).toBe(200);
  });

  it('STIM-35 AMB-048 of another source or tenant is another key', async () => {
    const key = { content, idempotency_key: 'd' };
    expect((await world.submit({ source: 'http_api', ...key })).status).toBe(200);
    expect((await world.submit({ source: 'tickets', ...key })).status).toBe(200);
    await world.workflow('answer', {}, world.otherTenant);
    await world.router('routes', { routes: { http_api: 'answer' } }, world.otherTenant);
    const foreign = await world.submit({ source: 'http_api', ...key }, { tenant: world.otherTenant });
    expect(foreign.status).toBe(200);
    expect(await world.executions(world.otherTenant)).toHaveLength(1);
  });

  it('AMB-049 STIM-36 of 200 parallel stimuli through two replicas starts exactly one run', async () => {
    const before = (await world.executions()).length;
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        world.submit({ source: 'http_api', content, idempotency_key: 'crowd' }, { replica: index % 2 }),
      ),
    );
    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(1);
    const original = accepted[0]?.json<Accepted>().stimulus_id;
    const others = answers.filter(({ status }) => status !== 200).map((answer) => answer.json());
    expect(others).toEqual(
      Array.from({ length: 199 }, () => ({
        error: 'idempotent_duplicate',
        code: 'idempotent_duplicate',
        message: 'A stimulus with the same source and idempotency key was accepted within the last 24 hours.',
        original_stimulus_id: original,
      })),
    );
    expect(await world.executions()).toHaveLength(before + 1);
  });
});

describe('a stimulus that does not run', () => {
  it('STIM-33 ROUTE-13 has no route and no router agent: 422', async () => {
    const { status, text } = await world.submit({ source: 'unheard-of', content: 'x' });
    expect(status).toBe(422);
    expect(JSON.parse(text)).toMatchObject({ error: 'no_router_configured' });
  });

  it('ROUTE-04 runs as soon as there is a route, without waiting for any controller', async () => {
    await world.router('late', { routes: { late: 'answer' } });
    expect((await world.submit({ source: 'late', content: 'x' })).status).toBe(200);
  });

  it('STIM-34 AMB-047 has a workflow that is not there: 500, and the key is free when it is', async () => {
    const body = { source: 'gone', content: 'x', idempotency_key: 'k' };
    const { status, text } = await world.submit(body);
    expect(status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ error: 'workflow_error', message: 'there is no workflow nowhere' });
    await world.workflow('nowhere');
    expect((await world.submit(body)).status).toBe(200);
    expect((await world.submit(body)).status).toBe(409);
  });

  it('STIM-34 AMB-145 does not satisfy the input_schema: 500 with every path, and the key is free', async () => {
    const before = (await world.executions()).length;
    const bad = { source: 'typed', content: '{"ticket": "seven", "to": 1}', idempotency_key: 'k' };
    const answer = await world.submit(bad);
    expect(answer.status).toBe(500);
    expect(answer.json()).toMatchObject({
      error: 'workflow_error',
      details: [
        { path: 'input.ticket', message: expect.any(String) },
        { path: 'input.to', message: expect.any(String) },
      ],
    });
    expect(await world.executions()).toHaveLength(before);
    expect((await world.submit({ ...bad, content: '{"ticket": 7}' })).status).toBe(200);
  });

  it('STIM-34 AMB-145 text for a workflow that asks for fields: 500', async () => {
    const answer = await world.submit({ source: 'typed', content: 'ticket 7' });
    expect([answer.status, answer.json()['error']]).toEqual([500, 'workflow_error']);
  });

  it('STIM-34 has a workflow whose definition was refused: 500', async () => {
    await world.workflow('broken', { output_template: { x: '{{#if}}' } });
    await world.router('broken', { routes: { broken: 'broken' } });
    const answer = await world.submit({ source: 'broken', content: 'x' });
    expect(answer.status).toBe(500);
    expect(answer.json()).toMatchObject({ error: 'workflow_error', message: expect.stringContaining('cannot run') });
  });

  it('STIM-34 AMB-047 has no room in the quota: 500, and the key is free', async () => {
    const quota = { namespace: world.tenant, name: 'none' };
    const count = (await world.executions()).length;
    await world.kube.create(resourceQuotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: quota,
      spec: { hard: { 'count/workflowexecutions.windlass.dev': String(count) } },
    });
    const body = { source: 'http_api', content: 'x', idempotency_key: 'quota' };
    await expect
      .poll(async () => (await world.submit({ source: 'http_api', content: 'y' })).json(), { timeout: 20_000 })
      .toMatchObject({ error: 'workflow_error', message: "the tenant's quota has no room for another run" });
    expect((await world.submit(body)).status).toBe(500);
    await world.kube.delete(resourceQuotas, quota);
    await expect.poll(async () => (await world.submit(body)).status, { timeout: 20_000 }).toBe(200);
  });

  it('STIM-32 AMB-008 ROUTE-16 names a router agent that is not there: 422 and ClassificationFailed', async () => {
    const tenant = world.otherTenant;
    await world.router('asking', { router_agent: 'triage' }, tenant);
    const before = (await world.events(0, tenant)).length;
    const answer = await world.submit({ source: 'anything', content: 'x', idempotency_key: 'k' }, { tenant });
    expect(answer.status).toBe(422);
    expect(answer.json()).toMatchObject({ error: 'classification_failed' });
    const events = (await world.events(before + 2, tenant)).slice(before);
    expect(events.map(({ type }) => type)).toEqual(['StimulusReceived', 'ClassificationFailed']);
    expect(events[1]?.data).toEqual({ stimulus_id: expect.stringMatching(uuid), error: 'there is no agent triage' });
    // The key was given back.
    const again = await world.submit({ source: 'anything', content: 'x', idempotency_key: 'k' }, { tenant });
    expect(again.status).toBe(422);
  });

  it('is larger than an execution can be: 413', async () => {
    const { status, text } = await world.submit({ source: 'http_api', content: 'x'.repeat(1_048_577) });
    expect([status, JSON.parse(text).error]).toEqual([413, 'payload_too_large']);
  });
});

describe('the events of a stimulus', () => {
  it('ROUTE-09 ROUTE-10 ROUTE-18 ROUTE-19 ROUTE-20 is read back from the stream, in order and with these fields', async () => {
    const before = (await world.events(0)).length;
    const answer = await world.submit({ source: 'tickets', content: 'x', idempotency_key: 'told' });
    const { stimulus_id: stimulusId } = answer.json<Accepted>();
    await world.submit({ source: 'tickets', content: 'x', idempotency_key: 'told' });
    await world.submit({ source: 'unheard-of', content: 'x' });
    const events = (await world.events(before + 4)).slice(before);
    const { metadata } = await world.kube.get(workflows, { namespace: world.tenant, name: 'answer' });
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['StimulusReceived', { stimulus_id: stimulusId, source: 'tickets', received_at: expect.any(String) }],
      [
        'StimulusClassified',
        { stimulus_id: stimulusId, workflow_id: metadata.uid, confidence: 1, mode: 'Deterministic' },
      ],
      ['StimulusRejected', { stimulus_id: expect.stringMatching(uuid), reason: 'IdempotentDuplicate' }],
      ['StimulusRejected', { stimulus_id: expect.stringMatching(uuid), reason: 'NoRouterConfigured' }],
    ]);
    expect(events[0]).toMatchObject({ subject: stimulusId, source: expect.stringContaining('api') });
  });
});

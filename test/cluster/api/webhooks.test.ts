import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import { waitUntilFinished } from '../harness/executions.ts';
import { stimulusRouters } from '../harness/kinds.ts';
import { type Accepted, type StimuliWorld, boundSignatureOf, signatureOf, startStimuliWorld } from './stimuli-world.ts';

let world: StimuliWorld;

beforeAll(async () => {
  world = await startStimuliWorld(['ci', 'my-ci', 'shared', 'nobody', 'strict'], { purpose: 'webhooks', replicas: 2 });
  await world.workflow('build');
  await world.workflow('strict', { input_schema: { type: 'object', required: ['ref'] } });
  await world.router('routes', { routes: { ci: 'build', 'my-ci': 'build', 'my.ci': 'build', strict: 'strict' } });
});

afterAll(() => world.close());

const executionOf = async (answer: Accepted) =>
  (await world.executions()).find(({ metadata }) => metadata.uid === answer.workflow_execution_id);

async function accepted(source: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  const answer = await world.webhook(source, body, { headers });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json<Accepted>();
}

describe('POST /v1/webhooks/{source}', () => {
  it('STIM-13 STIM-14 STIM-17 ROUTE-11 starts the workflow of the route, without any token', async () => {
    const answer = await accepted('ci', '{"ref": "main"}', { 'content-type': 'application/json', 'X-Event': 'push' });
    const execution = await executionOf(answer);
    expect(execution?.spec).toMatchObject({ workflow: 'build', input: { ref: 'main' } });
    const seed = execution?.spec.blackboard?.['stimulus'] as { headers: Record<string, string> };
    expect(seed).toMatchObject({ id: answer.stimulus_id, source: 'ci', headers: { 'x-event': 'push' } });
    expect(seed.headers).not.toHaveProperty('x-svc-signature');
    const ref = { namespace: world.tenant, name: execution?.metadata.name ?? '' };
    expect((await waitUntilFinished(world.kube, ref)).status?.phase).toBe('completed');
  });

  it.each<[title: string, type: string, body: string | Uint8Array, input: object]>([
    ['a form', 'application/x-www-form-urlencoded', 'a=1&b=2', { content: 'a=1&b=2' }],
    ['text', 'text/plain; charset=utf-8', 'Grüße ☃', { content: 'Grüße ☃' }],
    ['a list', 'application/json', '[1]', { content: [1] }],
    ['what is no JSON after all', 'application/json', '{"a":', { content: '{"a":' }],
    ['nothing', 'text/plain', '', { content: '' }],
    ['an image', 'image/png', Buffer.from([0x89, 0x50, 0xff, 0x00]), { base64: 'iVD/AA==', content_type: 'image/png' }],
  ])('STIM-16 takes %s', async (_title, type, body, input) => {
    const answer = await accepted('ci', body, { 'content-type': type });
    expect((await executionOf(answer))?.spec.input).toEqual(input);
  });

  it('AMB-044 sources that differ in a dot and a hyphen have one secret and their own routes', async () => {
    const body = 'spelt with a dot';
    const signed = { headers: { 'x-svc-signature': signatureOf('my-ci', body) } };
    const answer = await world.webhook('my.ci', body, signed);
    expect(answer.status).toBe(200);
    const execution = await executionOf(answer.json<Accepted>());
    expect(execution?.metadata.labels?.['windlass.dev/stimulus-source']).toBe('my.ci');
  });
});

describe('a signature', () => {
  const body = '{"ref": "main"}';
  const right = signatureOf('ci', body);
  const hex = right.slice('sha256='.length);

  it.each<[status: number, error: string, title: string, signature: string | undefined]>([
    [401, 'missing_signature', 'STIM-26 absent', undefined],
    [401, 'missing_signature', 'AMB-152 empty', ''],
    [400, 'malformed_signature', 'STIM-27 without scheme', hex],
    [400, 'malformed_signature', 'AMB-152 with the scheme in capitals', `SHA256=${hex}`],
    [400, 'malformed_signature', 'AMB-045 without digits', 'sha256='],
    [400, 'invalid_hex', 'STIM-28 with a letter beyond f', `sha256=${'g'.repeat(64)}`],
    [400, 'invalid_hex', 'AMB-045 with an odd number of digits', `sha256=${hex.slice(1)}`],
    [401, 'invalid_signature', 'STIM-30 of something else', `sha256=${'0'.repeat(64)}`],
    [401, 'invalid_signature', 'AMB-045 too short', 'sha256=00'],
  ])('%i %s: %s', async (status, error, _title, signature) => {
    const headers: Record<string, string> = signature === undefined ? {} : { 'x-svc-signature': signature };
    const answer = await world.http('/v1/webhooks/ci', { method: 'POST', body, headers });
    expect([answer.status, answer.json()]).toMatchObject([status, { error }]);
  });

  it('AMB-045 400 malformed_signature: sent twice', async () => {
    const headers = [
      ['x-svc-signature', right],
      ['x-svc-signature', right],
    ] as const;
    const answer = await world.http('/v1/webhooks/ci', { method: 'POST', body, headers });
    expect([answer.status, answer.json()]).toMatchObject([400, { error: 'malformed_signature' }]);
  });

  it.each(['other', 'CI', 'c_i', '-ci', 'a'.repeat(64), 'ci%2F', '%E2%98%83'])(
    'STIM-24 STIM-29 AMB-043 401 secret_not_found: for the source %s',
    async (source) => {
      const answer = await world.webhook(source, body);
      expect([answer.status, answer.json()]).toMatchObject([401, { error: 'secret_not_found' }]);
    },
  );

  it('AMB-045 in upper case counts', async () => {
    const headers = { 'x-svc-signature': `sha256=${hex.toUpperCase()}` };
    expect((await world.http('/v1/webhooks/ci', { method: 'POST', body, headers })).status).toBe(200);
  });

  it('STIM-22 of the same JSON, written differently, does not count', async () => {
    const rewritten = JSON.stringify(JSON.parse(body));
    const answer = await world.webhook('ci', rewritten, { headers: { 'x-svc-signature': right } });
    expect(answer.json()).toMatchObject({ error: 'invalid_signature', code: 'invalid_signature' });
  });

  it('AMB-004 is checked before the key: who cannot sign learns nothing of keys, and uses none up', async () => {
    const key = { 'x-idempotency-key': 'guarded' };
    const guarded = `${body} `;
    const forged = { headers: { ...key, 'x-svc-signature': `sha256=${'0'.repeat(64)}` } };
    expect((await world.webhook('ci', body, forged)).status).toBe(401);
    expect((await world.webhook('ci', guarded, { headers: key })).status).toBe(200);
    expect((await world.webhook('ci', body, forged)).json()).toMatchObject({
      error: 'invalid_signature',
      code: 'invalid_signature',
    });
  });

  it('AMB-004 is checked before the route: who cannot sign does not learn which sources are routed', async () => {
    const answer = await world.webhook('nobody', body, { headers: { 'x-svc-signature': right } });
    expect(answer.json()).toMatchObject({ error: 'invalid_signature', code: 'invalid_signature' });
  });

  it('ROUTE-08 ROUTE-21 that is wrong is published with the reason HmacInvalid', async () => {
    const before = (await world.events(0)).length;
    await world.webhook('ci', body, { headers: { 'x-svc-signature': `sha256=${'0'.repeat(64)}` } });
    const [event] = (await world.events(before + 1)).slice(before);
    expect([event?.type, event?.data]).toEqual([
      'StimulusRejected',
      { stimulus_id: expect.any(String), reason: 'HmacInvalid' },
    ]);
  });
});

describe('a delivery', () => {
  it('STIM-15 STIM-25 STIM-31 is refused the second time, through either replica', async () => {
    const headers = { 'X-Idempotency-Key': 'any "text": %00 / =;' };
    const first = await accepted('ci', 'x', headers);
    for (const replica of [0, 1]) {
      const second = await world.webhook('ci', 'x', { headers, replica });
      expect([second.status, second.json()]).toMatchObject([
        409,
        { error: 'idempotent_duplicate', original_stimulus_id: first.stimulus_id },
      ]);
    }
    expect((await world.webhook('my-ci', 'x', { headers })).status).toBe(200);
  });

  it('STIM-15 STIM-25 that an attacker saw does not run again under another key, another source, or none', async () => {
    const body = 'seen by somebody';
    const seen = { 'x-idempotency-key': 'seen', 'x-svc-signature': signatureOf('my-ci', body) };
    await accepted('my-ci', body, seen);
    const replays: [source: string, headers: Record<string, string>][] = [
      ['my-ci', { ...seen, 'x-idempotency-key': 'another' }],
      ['my-ci', { 'x-svc-signature': seen['x-svc-signature'] }],
      [
        'my-ci',
        {
          ...seen,
          'x-idempotency-key': 'upper',
          'x-svc-signature': `sha256=${seen['x-svc-signature'].slice(7).toUpperCase()}`,
        },
      ],
      ['my.ci', seen],
    ];
    for (const [source, headers] of replays) {
      for (const replica of [0, 1]) {
        const answer = await world.webhook(source, body, { headers, replica });
        expect([answer.status, answer.json()['error']]).toEqual([409, 'signature_reused']);
      }
    }
    expect((await world.webhook('my-ci', body, { headers: seen })).json()['error']).toBe('idempotent_duplicate');
  });

  it('whose sender signs source and key as well runs under each key that it signed, and under no other', async () => {
    const body = '{"event":"nightly"}';
    const bound = (key: string) => ({
      'x-idempotency-key': key,
      'x-svc-bound-signature': boundSignatureOf('ci', key, body),
    });
    await accepted('ci', body, bound('monday'));
    await accepted('ci', body, bound('tuesday'));
    const moved = { ...bound('monday'), 'x-idempotency-key': 'friday' };
    expect((await world.webhook('ci', body, { headers: moved })).json()['error']).toBe('invalid_signature');
    const { 'x-idempotency-key': key } = moved;
    const bare = await world.webhook('ci', body, { headers: { 'x-idempotency-key': key } });
    expect(bare.json()['error']).toBe('signature_reused');
  });

  it('without a key, or with an empty one, runs each time', async () => {
    const before = (await world.executions()).length;
    await accepted('ci', 'no key');
    await accepted('ci', 'no key', { 'x-idempotency-key': '' });
    await accepted('ci', 'no key', { 'x-idempotency-key': '' });
    expect(await world.executions()).toHaveLength(before + 3);
  });

  it.each([
    [1_024, 200],
    [1_025, 400],
  ])('with a key of %i characters is answered with %i', async (length, status) => {
    const headers = { 'x-idempotency-key': 'k'.repeat(length) };
    expect((await world.webhook('ci', `${length}`, { headers })).status).toBe(status);
  });

  it('STIM-33 422 no_router_configured: of a source with a secret and without a route', async () => {
    const headers = { 'x-idempotency-key': 'k' };
    for (const _ of [1, 2]) {
      const answer = await world.webhook('nobody', 'x', { headers });
      expect([answer.status, answer.json()['error']]).toEqual([422, 'no_router_configured']);
    }
  });

  it('AMB-046 AMB-047 500 workflow_error: that its workflow refuses, with the path; the key stays free', async () => {
    const headers = { 'x-idempotency-key': 'k' };
    const refused = await world.webhook('strict', '{}', { headers });
    expect(refused.status).toBe(500);
    expect(refused.json()).toMatchObject({ error: 'workflow_error', details: [{ path: 'input.ref' }] });
    expect((await world.webhook('strict', '{"ref": 1}', { headers })).status).toBe(200);
  });

  it('AMB-177 may have anything in its query', async () => {
    for (const query of ['token=x', 'a=1&a=2', '__proto__=1', '%ff']) {
      const body = `with ?${query}`;
      const headers = { 'x-svc-signature': signatureOf('ci', body) };
      const answer = await world.http(`/v1/webhooks/ci?${query}`, { method: 'POST', body, headers });
      expect([query, answer.status]).toEqual([query, 200]);
    }
  });

  it('with two keys is refused', async () => {
    const headers = [
      ['x-svc-signature', signatureOf('ci', 'x')],
      ['x-idempotency-key', 'a'],
      ['x-idempotency-key', 'a'],
    ] as const;
    const answer = await world.http('/v1/webhooks/ci', { method: 'POST', body: 'x', headers });
    expect([answer.status, answer.json()['error']]).toEqual([400, 'invalid_request']);
  });

  it('is found by its id at once', async () => {
    const { workflow_execution_id: id } = await accepted('ci', 'found at once');
    const token = await world.token({ user: 'kim', tenant: world.tenant });
    for (const replica of [0, 1]) {
      const answer = await world.http(`/v1/workflows/executions/${id}`, { token }, replica);
      expect([answer.status, answer.json()]).toEqual([
        200,
        expect.objectContaining({ execution_id: id, workflow: 'build' }),
      ]);
    }
  });

  it('AMB-176 that is compressed is signed as it is sent, and read as what it was', async () => {
    const body = gzipSync('{"packed": "yes"}');
    const json = { 'content-type': 'application/json' };
    const answer = await accepted('ci', body, { ...json, 'content-encoding': 'gzip' });
    expect((await executionOf(answer))?.spec.input).toEqual({ packed: 'yes' });
    const unknown = await accepted('ci', body, { ...json, 'content-encoding': 'zstd' });
    expect((await executionOf(unknown))?.spec.input).toEqual({
      base64: body.toString('base64'),
      content_type: 'application/json',
    });
  });
});

describe('the size of a delivery', () => {
  const most = limits.executionInputBytes - '{"content":""}'.length - 100;

  it('that an execution can hold', async () => {
    const answer = await accepted('ci', 'x'.repeat(most));
    const ref = { namespace: world.tenant, name: `stimulus-${answer.stimulus_id}` };
    expect((await waitUntilFinished(world.kube, ref)).status?.phase).toBe('completed');
  });

  it.each([
    ['larger than that', 'x'.repeat(limits.executionInputBytes + 1)],
    ['that grows as JSON', '\u0001'.repeat(limits.executionInputBytes / 4)],
    ['of 10 MiB', 'x'.repeat(limits.webhookBodyBytes)],
  ])('413 %s, once its signature was found right', async (_title, body) => {
    const answer = await world.webhook('ci', body, { headers: { 'x-idempotency-key': 'large' } });
    expect(answer.status).toBe(413);
    expect(answer.json()).toMatchObject({ error: 'payload_too_large', message: expect.stringContaining('1048576') });
    const forged = await world.webhook('ci', body, { headers: { 'x-svc-signature': `sha256=${'0'.repeat(64)}` } });
    expect(forged.json()).toMatchObject({ error: 'invalid_signature', code: 'invalid_signature' });
  });

  it('413 beyond 10 MiB, unread', async () => {
    const answer = await world.webhook('ci', 'x'.repeat(limits.webhookBodyBytes + 1));
    expect([answer.status, answer.json()['error']]).toEqual([413, 'payload_too_large']);
  });
});

describe('whose delivery it is', () => {
  it('AMB-144 is the tenant that claimed the source first; the second one gets it when the first lets go', async () => {
    const { kube, tenant, otherTenant } = world;
    await world.workflow('build', {}, otherTenant);
    await world.router('first', { routes: { shared: 'build' } });
    await accepted('shared', 'x');
    // The age of objects is counted in seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await world.router('second', { routes: { shared: 'build' } }, otherTenant);
    const answer = await accepted('shared', 'mine');
    expect(await executionOf(answer)).toBeDefined();
    expect(await world.executions(otherTenant)).toEqual([]);
    await kube.delete(stimulusRouters, { namespace: tenant, name: 'first' });
    await expect
      .poll(async () => {
        await world.webhook('shared', 'theirs');
        return (await world.executions(otherTenant)).length;
      })
      .toBeGreaterThan(0);
  });
});

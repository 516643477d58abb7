import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../../test/support/http-server.ts';
import { createStartRoute } from './start.ts';

/** The route alone, in an installation without tenants: a body that it takes is answered 404. */
let server: TestServer;

beforeAll(async () => {
  const cluster = { tenants: { namespaceOf: () => undefined } };
  server = await startTestServer([createStartRoute({ cluster } as never)] as never);
});
afterAll(() => server.close());

const id = '6c0a3c52-8a52-4a8e-9c0e-6d7d6a0c9f11';

async function start(body: string): Promise<readonly [status: number, answer: unknown]> {
  const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };
  const response = await fetch(`${server.url}/v1/executions`, { method: 'POST', headers, body });
  return [response.status, await response.json()];
}

const bodies: readonly (readonly [title: string, body: object])[] = [
  ['is absent', {}],
  ['is null', { agent_id: null }],
  ['is a number', { agent_id: 7 }],
  ['is a boolean', { agent_id: true }],
  ['is an object', { agent_id: { id } }],
  ['is a list', { agent_id: [id] }],
  ['is empty', { agent_id: '' }],
  ['is a name', { agent_id: 'runner' }],
  ['is longer than any name', { agent_id: id.repeat(20) }],
];

describe('the body of a start', () => {
  it.each(bodies)('EXEC-04 agent_id %s: 400 Invalid agent ID, whatever else the body has', async (_title, given) => {
    for (const rest of [{ input: 'x' }, {}, { input: 7, agentId: id }]) {
      const [status, answer] = await start(JSON.stringify({ ...rest, ...given }));
      expect([status, answer]).toMatchObject([400, { error: 'Invalid agent ID', code: 'invalid_agent_id' }]);
    }
  });

  it('EXEC-04 the message and the first detail name the field, and further details the others', async () => {
    const [, answer] = await start('{}');
    expect(answer).toMatchObject({
      message: 'body.agent_id is required',
      details: [
        { path: 'body.agent_id', message: 'is required' },
        { path: 'body.input', message: 'is required' },
      ],
    });
  });

  it.each([
    ['is absent', {}],
    ['is null', { input: null }],
    ['is a number', { input: 7 }],
  ])('AMB-028 input %s: 400 with input in the error', async (_title, given) => {
    const [status, answer] = await start(JSON.stringify({ agent_id: id, ...given }));
    expect([status, answer]).toMatchObject([400, { error: 'Invalid input', details: [{ path: 'body.input' }] }]);
  });

  it('other mistakes are those of any request', async () => {
    const unknown = JSON.stringify({ agent_id: id, input: 'x', intend: 'y' });
    for (const body of [unknown, '{', '[]', 'null'])
      expect(await start(body)).toMatchObject([400, { error: 'invalid_request' }]);
    expect(await start(JSON.stringify({ agent_id: id.toUpperCase(), input: 'x' }))).toMatchObject([404, {}]);
  });
});

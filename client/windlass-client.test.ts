import { describe, expect, it } from 'vitest';
import { answerJson, loopback } from '../test/builders/loopback.ts';
import type { ExecutionEvent } from './generated/operations.ts';
import { createWindlassClient, type ServerEvent, WindlassApiError } from './index.ts';

const id = 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22';

describe('a client', () => {
  it('has every operation as a method, with its parameters where they belong', async () => {
    await using server = await loopback(answerJson(200, { workflow_id: id }), answerJson(200, { execution_id: id }));
    const client = createWindlassClient({ server: `${server.url}/`, token: 't', tenant: 'acme' });
    expect(await client.registerWorkflow({ body: 'kind: Workflow\n', force: true })).toEqual({ workflow_id: id });
    expect(await client.readExecution({ execution_id: 'hello/1', full: true })).toEqual({ execution_id: id });
    const [register, read] = server.requests;
    expect([register?.method, register?.url, register?.body]).toEqual([
      'POST',
      '/v1/workflows/register?force=true',
      'kind: Workflow\n',
    ]);
    expect(register?.headers).toMatchObject({
      'content-type': 'application/yaml',
      authorization: 'Bearer t',
      'x-tenant-id': 'acme',
    });
    expect([read?.method, read?.url]).toEqual(['GET', '/v1/workflows/executions/hello%2F1?full=true']);
  });

  it('can be given a server behind a path', async () => {
    await using server = await loopback(answerJson(200, { status: 'ok' }));
    await createWindlassClient({ server: `${server.url}/windlass/` }).readHealth();
    expect(server.requests[0]?.url).toBe('/windlass/health');
  });

  it.each(['windlass.example.com', 'ftp://windlass.example.com', ''])('refuses %j as a server', (server) => {
    expect(() => createWindlassClient({ server })).toThrow(`${server} is not an http or https address`);
  });

  it('gives a start a key of its own, the same for each attempt, or the one it is given', async () => {
    await using server = await loopback(
      (request) => request.socket.destroy(),
      answerJson(200, { execution_id: id }),
      answerJson(200, { execution_id: id }),
      answerJson(200, { execution_id: id }),
    );
    const client = createWindlassClient({ server: server.url });
    await client.startExecution({ body: { workflow: 'hello' } });
    await client.startExecution({ body: { workflow: 'hello' } });
    await client.startExecution({ body: { workflow: 'hello' }, idempotencyKey: 'mine' });
    const [first, again, second, mine] = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(again).toBe(first);
    expect(second).not.toBe(first);
    expect(mine).toBe('mine');
  });

  it('takes the key in the body of a stimulus for the key of the call', async () => {
    await using server = await loopback(answerJson(200, {}));
    const client = createWindlassClient({ server: server.url });
    await client.submitStimulus({ body: { source: 'http_api', content: 'x', idempotency_key: 'ticket-1' } });
    expect(server.requests[0]?.headers['idempotency-key']).toBe('ticket-1');
  });

  it('AMB-030 follows an execution to its one terminal event', async () => {
    const start = { workflow_execution_started: { execution_id: id } };
    const end = {
      workflow_execution_cancelled: { execution_id: id, transitions: 0, cancelled_at: '2026-01-02T03:04:05Z' },
    };
    await using server = await loopback(
      (_, response) => void response.write(`id: start\ndata: ${JSON.stringify(start)}\n\n`, () => response.destroy()),
      (_, response) => void response.write(`id: end\ndata: ${JSON.stringify(end)}\n\n`),
    );
    const client = createWindlassClient({ server: server.url });
    const events: ServerEvent<ExecutionEvent>[] = [];
    for await (const event of client.streamExecution({ execution_id: id })) events.push(event);
    expect(events.map(({ data }) => data)).toEqual([start, end]);
    expect(server.requests[1]?.headers['last-event-id']).toBe('start');
  });

  it('reads logs as they come', async () => {
    await using server = await loopback((_, response) => response.end('Hello, Ada!\n'));
    const client = createWindlassClient({ server: server.url });
    const logs = await client.readExecutionLogs({ execution_id: id, follow: true });
    expect(await logs.text()).toBe('Hello, Ada!\n');
  });

  it('throws what the API says', async () => {
    const body = { error: 'Execution not found', code: 'execution_not_found', message: 'no such execution' };
    await using server = await loopback(answerJson(404, body));
    const reading = createWindlassClient({ server: server.url }).readExecution({ execution_id: id });
    await expect(reading).rejects.toBeInstanceOf(WindlassApiError);
    await expect(reading).rejects.toMatchObject(body);
  });
});

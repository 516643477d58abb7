import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createLogsRoute, type LogsDeps } from '../../api/routes/executions/logs/index.ts';
import { aborted } from '../../lib/aborted.ts';
import { systemClock } from '../../lib/clock.ts';
import { defineContract, type Contract } from '../../lib/http/contract.ts';
import { bodyLimits } from '../../lib/http/body-limits.ts';
import { defineRoute, type Route } from '../../lib/http/route.ts';
import { anExecution } from '../builders/execution-builder.ts';
import { requestText, startTestServer, type TestCaller, type TestServer } from '../support/http-server.ts';

/**
 * The attacker has a token, and one execution whose input takes more memory than the pool for values has. She asks for something that
 * needs all of it and never ends, and watches what that does to another tenant.
 */
const mib = 1_048_576;
const weight = Math.ceil(1.1 * bodyLimits.parsed.bearer);
/** More than the systems hold for a connection. */
const unreadBytes = 12 * mib;

const test = { tag: 'Test', summary: 'Test', access: 'bearer', errors: [] } as const;
const Values = Type.Object({ values: Type.Array(Type.Any()) });
const text = {
  kind: 'text',
  description: 'Done.',
  schema: Type.String(),
  example: '',
  mediaType: 'text/plain',
} as const;
const reading = (name: string) =>
  defineContract({ ...test, operationId: name, method: 'get', path: `/${name}`, success: text });
const events = { kind: 'events', description: 'Events.', schema: Type.Any(), lastEvents: [], example: '' } as const;
const posting = <S extends Contract['success']>(name: string, success: S) => {
  const body = { kind: 'json', schema: Values, example: { values: [] } } as const;
  return defineContract({ ...test, operationId: name, method: 'post', path: `/${name}`, body, success });
};

/** An execution in a state that waits for a person; `reads` counts how often the whole of it was read. */
function fatExecution() {
  const state: { execution: WorkflowExecution; reads: number } = {
    execution: anExecution().now({ state: 'gate', kind: 'Human' }).build(),
    reads: 0,
  };
  const executions: LogsDeps['cluster']['executions'] = {
    find: async (_tenant, _id, reserve) => {
      await reserve?.(weight);
      state.reads += 1;
      return state.execution;
    },
    versionOf: () => state.execution.metadata.resourceVersion,
  };
  return { state, executions };
}

let fat: ReturnType<typeof fatExecution>;
let server: TestServer;
let sockets: Socket[];
let stuck: number;

const routesOf = ({ executions }: typeof fat): Route<TestCaller>[] => {
  const unasked = () => Promise.reject(new Error('nothing runs'));
  const deps = { kube: { listAll: unasked, readLog: unasked }, clock: systemClock, outputs: () => unasked };
  const logs = createLogsRoute({ ...deps, cluster: { executions } } as unknown as LogsDeps);
  return [
    // Callers of tests have a name, which is their tenant.
    { ...logs, handle: (request) => logs.handle({ ...asked(request), caller: callerOf(request) } as never) },
    defineRoute(reading('text'), async (request) => {
      await request.reserve(weight);
      return { kind: 'text', text: 'x'.repeat(unreadBytes), mediaType: 'text/plain' };
    }),
    defineRoute(reading('half'), async (request) => {
      await request.reserve(bodyLimits.parsed.bearer / 2);
      return { kind: 'text', text: 'done', mediaType: 'text/plain' };
    }),
    defineRoute(reading('stuck'), async (request) => {
      await request.reserve(weight);
      stuck += 1;
      await aborted(request.signal);
      return { kind: 'text', text: '', mediaType: 'text/plain' };
    }),
    defineRoute(posting('register', text), async () => ({ kind: 'text', text: 'done', mediaType: 'text/plain' })),
    defineRoute(posting('invoke', events), async ({ signal }) => ({ kind: 'events', events: silence(signal) })),
  ] as Route<TestCaller>[];
};

/** A request has getters, which a copy by spreading would lose. */
const asked = (request: never) => {
  const { params, query, signal } = request as { params: object; query: object; signal: AbortSignal };
  const reserve = (bytes: number): Promise<void> => (request as { reserve(of: number): Promise<void> }).reserve(bytes);
  return { params, query, signal, reserve };
};
const callerOf = (request: never) => {
  const { name } = (request as { readonly caller: TestCaller }).caller;
  return { subject: name, tenant: name, roles: ['operator'], scopes: [] };
};

async function* silence(signal: AbortSignal) {
  yield { data: {} };
  await aborted(signal);
}

beforeEach(async () => {
  fat = fatExecution();
  server = await startTestServer(routesOf(fat));
  sockets = [];
  stuck = 0;
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

/** Sends a request, and reads no more than the first bytes of its answer. */
async function hold(who: string, first: string, body = ''): Promise<number> {
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  const type = body === '' ? [] : ['Content-Type: application/json'];
  socket.write(requestText(first, [`Authorization: Bearer ${who}`, ...type], body));
  const head = await new Promise<Buffer>((resolve) => {
    socket.once('data', (chunk) => {
      socket.pause();
      resolve(chunk);
    });
  });
  return Number(head.toString('latin1').split(' ')[1]);
}

const bodyOf = (bytes: number): string => JSON.stringify({ values: Array.from({ length: bytes / 8 }, () => [[[]]]) });
/** Sends as much as the manifest of a workflow of 67 KB. */
const register = (who: string, bytes = 67_000): Promise<number> => hold(who, 'POST /register', bodyOf(bytes));
const follow = (who: string): Promise<number> =>
  hold(who, 'GET /v1/workflows/executions/fat/logs?follow=true&state=done');

describe('memory that one tenant takes for as long as it likes', () => {
  it('leaves another one its share while a follower waits for a state that never comes', async () => {
    expect(await follow('eve')).toBe(200);
    expect(await register('bob')).toBe(200);
  });

  it('is none while a log is followed: her own next request finds as much as before', async () => {
    for (let count = 0; count < 5; count += 1) expect(await follow('eve')).toBe(200);
    expect(await hold('eve', 'GET /half')).toBe(200);
  });

  it('is a share where one request needs all of it and never ends', async () => {
    void hold('eve', 'GET /stuck');
    await expect.poll(() => stuck, { timeout: 10_000 }).toBe(1);
    expect(await register('bob')).toBe(200);
    expect(await register('eve')).toBe(503);
  });

  it('is the text of an answer that she does not read, and no longer the values that it was made of', async () => {
    expect(await hold('eve', 'GET /text')).toBe(200);
    expect(await hold('bob', 'GET /half')).toBe(200);
  });

  it('is none for the body of a request whose events go on', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) statuses.push(await hold('eve', 'POST /invoke', bodyOf(mib / 4)));
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(await register('bob')).toBe(200);
  });
});

it('a log that is followed reads a fat execution again only where it has changed', async () => {
  expect(await follow('eve')).toBe(200);
  await setTimeout(1_500);
  expect(fat.state.reads).toBe(1);
  const { execution } = fat.state;
  fat.state.execution = { ...execution, metadata: { ...execution.metadata, resourceVersion: '77' } };
  await expect.poll(() => fat.state.reads, { timeout: 5_000 }).toBe(2);
});

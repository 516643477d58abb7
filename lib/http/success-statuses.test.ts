import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestCaller, type TestServer } from '../../test/support/http-server.ts';
import { type Contract, defineContract, type SuccessContract } from './contract.ts';
import { defineRoute, json, noContent, type Reply } from './route.ts';
import { successStatuses } from './success-statuses.ts';

const contractOf = (success: SuccessContract): Contract =>
  defineContract({
    operationId: 'take',
    method: 'get',
    path: '/v1/take',
    tag: 'Test',
    summary: 'Test',
    access: 'public',
    success,
    errors: [],
  });

const empty: SuccessContract = { kind: 'none', description: 'Taken.' };
const object: SuccessContract = { kind: 'json', description: 'Done.', schema: Type.Object({}), example: {} };
const events: SuccessContract = { kind: 'events', description: 'Events.', schema: Type.Object({}), example: '' };
const also: SuccessContract = { ...object, bodiless: { 202: 'Taken, and not done yet.', 302: 'For browsers.' } };

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function answerOf(success: SuccessContract, reply: Reply) {
  const server = await startTestServer([defineRoute<Contract, TestCaller>(contractOf(success), async () => reply)]);
  servers.push(server);
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/take`, { redirect: 'manual' });
  return { status: response.status, text: await response.text(), lines: server.lines };
}

describe('the statuses of success', () => {
  it.each([
    ['JSON', object, [200]],
    ['nothing', empty, [204]],
    ['events without an end', events, [200]],
    ['events with an end', { ...events, lastEvents: ['end'] }, [200, 204]],
    ['JSON, or nothing', also, [200, 202, 302]],
  ] as const)('of %s', (_, success, want) => {
    expect([...successStatuses({ success }).keys()]).toEqual(want);
  });

  it.each([
    [200, json({})],
    [202, { kind: 'accepted' }],
    [302, { kind: 'redirect', location: '/docs' }],
  ] as const)('%i is sent where the contract has it', async (status, reply) => {
    expect(await answerOf(also, reply)).toMatchObject({ status });
  });

  it.each([
    ['no_content', object, noContent],
    ['accepted', empty, { kind: 'accepted' }],
    ['json', empty, json({ secret: 1 })],
    ['redirect', object, { kind: 'redirect', location: '/docs' }],
  ] as const)('%s is a fault where the contract has no such status', async (kind, success, reply) => {
    const { status, text, lines } = await answerOf(success, reply);
    expect(status).toBe(500);
    expect(text).not.toContain('secret');
    expect(lines).toContainEqual(
      expect.objectContaining({ err: expect.objectContaining({ message: `the contract of take has no ${kind}` }) }),
    );
  });
});

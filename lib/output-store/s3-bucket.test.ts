import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { callMs, createS3Bucket } from './s3-bucket.ts';

describe('a bucket whose server falls silent', () => {
  let server: Server;
  let endpoint: string;
  let requests: number;
  let answer: (response: ServerResponse) => void;

  beforeEach(async () => {
    requests = 0;
    server = createServer((request, response) => {
      requests += 1;
      request.resume();
      answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const open = () => {
    const clock = createManualClock();
    const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
    const options = { bucket: 'b', endpoint, region: 'us-east-1', prefix: '', pathStyle: true, credentials };
    return { clock, bucket: createS3Bucket({ ...options, clock }) };
  };
  const silence = (): void => undefined;
  const stalledBody = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('x'.repeat(10));
  };
  type Bucket = ReturnType<typeof createS3Bucket>;
  const calls: readonly [string, (response: ServerResponse) => void, (bucket: Bucket) => Promise<unknown>][] = [
    ['a write', silence, (bucket) => bucket.write('k', Buffer.from('x'.repeat(5_000)))],
    ['a read', silence, (bucket) => bucket.read('k', 1_000)],
    ['a read in the midst of its body', stalledBody, (bucket) => bucket.read('k', 1_000)],
    ['a copy', silence, (bucket) => bucket.copy('k', 'l')],
    ['a copy in the midst of its answer', stalledBody, (bucket) => bucket.copy('k', 'l')],
    ['a list', silence, (bucket) => bucket.keys('k/')],
    ['a removal', silence, (bucket) => bucket.remove(['k'])],
    ['a removal of a folder', silence, (bucket) => bucket.clear('k/')],
  ];

  it.each(calls)('ends %s when its time is up, with its connection', async (_title, behaviour, call) => {
    answer = behaviour;
    const { clock, bucket } = open();
    const ended: unknown[] = [];
    const called = call(bucket).catch((error: unknown) => ended.push(error));
    await expect.poll(() => requests).toBe(1);
    await clock.advance(callMs - 1);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended).toMatchObject([
      {
        code: 'unavailable',
        reason: 'OutputStoreUnavailable',
        message: 'output store, bucket b: no answer within 45 s',
      },
    ]);
    await called;
    const connections = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
    await expect.poll(connections).toBe(0);
    expect([requests, clock.sleepers]).toEqual([1, 0]);
  });

  it('answers a call in time and leaves no timer behind', async () => {
    answer = (response) => response.end('hello');
    const { clock, bucket } = open();
    expect(Buffer.from(await bucket.read('k', 1_000)).toString()).toBe('hello');
    expect(clock.sleepers).toBe(0);
  });
});

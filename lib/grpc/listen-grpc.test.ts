import { ServerCredentials } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { connectMany, manyConnections } from '../../test/support/connect-many.ts';
import { systemClock } from '../clock.ts';
import { createHealth } from './health.ts';
import { listenGrpc } from './listen-grpc.ts';

const open = (port: number) =>
  listenGrpc({
    clock: systemClock,
    port,
    host: '127.0.0.1',
    credentials: ServerCredentials.createInsecure(),
    services: [],
    health: createHealth([]),
    maxMessageBytes: 1_024,
  });

it('a fleet that comes back at once is kept by the kernel while the process works', async () => {
  const listener = await open(0);
  expect(connectMany(listener.port, manyConnections)).toBe(manyConnections);
  await listener.close(AbortSignal.abort());
});

it('a port that is taken is refused by its name', async () => {
  const listener = await open(0);
  await expect(open(listener.port)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(`127.0.0.1:${listener.port}`),
  });
  await listener.close(AbortSignal.abort());
  await (await open(listener.port)).close(AbortSignal.abort());
});

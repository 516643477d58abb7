import { PassThrough } from 'node:stream';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { AppError } from '../lib/errors.ts';
import { createManualClock } from '../test/support/manual-clock.ts';
import { silentLogger } from '../test/support/silent-logger.ts';
import type { ApiConfig } from './config.ts';
import { openTransports } from './open-transports.ts';

it('a stimulus of the standard input that is refused for now is given up with the other ways in', async () => {
  const clock = createManualClock();
  const stdin = new PassThrough();
  const tried = Promise.withResolvers<void>();
  const stop = new AbortController();
  const transports = await openTransports({
    config: { WINDLASS_STDIN_SENSOR: true, WINDLASS_SYSTEM_TENANT: 'acme' } as ApiConfig,
    clock,
    logger: silentLogger,
    newId: () => 'id',
    registry: new Registry(),
    runtime: { stop: stop.signal },
    ingest: async () => {
      tried.resolve();
      throw new AppError('unavailable', 'the API server is away');
    },
    tenants: {} as never,
    rateLimit: {} as never,
    stdin: () => stdin,
    readFile: async () => '',
  });
  stdin.write('{"source":"ops","content":"an alert"}\n');
  await tried.promise;
  stop.abort();
  const abandon = new AbortController();
  const closed = transports.close(abandon.signal);
  abandon.abort();
  await expect(closed).resolves.toBeUndefined();
});

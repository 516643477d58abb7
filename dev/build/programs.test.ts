import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startKeeper } from '../../controllers/runtime/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { type BundledFile, bundle } from './bundle.ts';
import { programs } from './programs.ts';

let folder = '';
let files: readonly BundledFile[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-programs-'));
  const { controllers, 'controllers-keeper': keeper } = programs;
  const root = resolve(import.meta.dirname, '../..');
  files = await bundle({ root, programs: { controllers, 'controllers-keeper': keeper }, out: folder });
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

it('the thread that renews the Lease is beside the program that starts it, and runs from there', async () => {
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['controllers.js', 'controllers-keeper.js']));
  const keeper = await startKeeper(
    { clock: systemClock, logger: silentLogger },
    { file: join(folder, 'controllers-keeper.js'), port: 0, host: '127.0.0.1', pages: {}, logLevel: 'silent' },
  );
  expect((await fetch(`http://127.0.0.1:${keeper.port}/healthz`)).status).toBe(200);
  await keeper.close();
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { type Keeper, startKeeper } from './keeper.ts';

const thread = join(import.meta.dirname, 'thread.ts');
const lease = { namespace: 'windlass-system', name: 'controllers' };

let cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
  cleanups = [];
});

const options = { port: 0, host: '127.0.0.1', logLevel: 'silent' as const };

async function kept(keeper: Promise<Keeper>): Promise<Keeper> {
  const started = await keeper;
  cleanups.push(() => started.close());
  return started;
}

/** A thread of a few lines. */
async function threadOf(source: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-keeper-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  const file = join(folder, 'thread.mjs');
  await writeFile(file, `import { parentPort as port, workerData } from 'node:worker_threads';\n${source}`);
  return file;
}

it('answers /healthz from the thread and the other pages from here, one that throws as well', async () => {
  const pages = {
    '/readyz': () => ({ status: 503, text: 'caches: not synced\n' }),
    '/metrics': () => {
      throw new Error('no');
    },
  };
  const keeper = await kept(
    startKeeper({ clock: systemClock, logger: silentLogger }, { ...options, file: thread, pages }),
  );
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${keeper.port}${path}`);
    return [response.status, await response.text()];
  };
  expect(await get('/healthz')).toEqual([200, 'ok\n']);
  expect(await get('/readyz')).toEqual([503, 'caches: not synced\n']);
  expect(await get('/metrics')).toEqual([500, 'the answer could not be made\n']);
  expect(await get('/nothing')).toEqual([404, 'not found\n']);
});

it('does not start where the port is taken', async () => {
  const deps = { clock: systemClock, logger: silentLogger };
  const first = await kept(startKeeper(deps, { ...options, file: thread, pages: {} }));
  const second = startKeeper(deps, { ...options, file: thread, pages: {}, port: first.port });
  await expect(second).rejects.toThrow('EADDRINUSE');
});

it('a thread that dies is replaced, and the new one keeps leading', async () => {
  // It leads when it is asked to compete and dies of it; the next one is asked to resume, and says who holds the lease.
  const file = await threadOf(`
    port.postMessage({ kind: 'listening', port: 1 });
    port.on('message', ({ kind }) => {
      if (kind === 'compete') { port.postMessage({ kind: 'leading' }); setTimeout(() => process.exit(1), 50); }
      if (kind === 'resume') port.postMessage({ kind: 'ended', end: 'lost' });
    });`);
  const election = { lease, identity: 'a', env: {} };
  const deps = { clock: systemClock, logger: silentLogger };
  const keeper = await kept(startKeeper(deps, { ...options, file, pages: {}, election }));
  let started = 0;
  const end = keeper.election.run(new AbortController().signal, () => {
    started += 1;
  });
  expect([await end, started]).toEqual(['lost', 1]);
});

it('one that keeps dying is given up after the fifth replacement: the process has lost', async () => {
  const file = await threadOf(
    `port.postMessage({ kind: 'listening', port: 1 }); setTimeout(() => process.exit(1), 20);`,
  );
  const clock = createManualClock();
  const keeper = await kept(startKeeper({ clock, logger: silentLogger }, { ...options, file, pages: {} }));
  const end = keeper.election.run(new AbortController().signal);
  let over = false;
  void end.then(() => {
    over = true;
  });
  await expect
    .poll(
      async () => {
        await clock.advance(10_000);
        return over;
      },
      { timeout: 20_000 },
    )
    .toBe(true);
  expect(await end).toBe('lost');
});

it.each([
  { lifeMs: 599_999, stepMs: 0, replaced: 5 },
  { lifeMs: 600_000, stepMs: 0, replaced: 8 },
  { lifeMs: 600_000, stepMs: -3_600_000, replaced: 8 },
])(
  'of nine threads that each die after $lifeMs ms, with the time of day set by $stepMs ms, $replaced took the place of another',
  async ({ lifeMs, stepMs, replaced }) => {
    // It dies of the answer to what it asks.
    const file = await threadOf(`
    port.postMessage({ kind: 'listening', port: 1 });
    port.postMessage({ kind: 'ask', id: 1, path: '/die' });
    port.on('message', ({ kind }) => { if (kind === 'page') process.exit(1); });`);
    const clock = createManualClock();
    const asked: (() => void)[] = [];
    const pages = {
      '/die': () =>
        new Promise<{ status: number; text: string }>((resolve) => {
          asked.push(() => resolve({ status: 200, text: '' }));
        }),
    };
    const keeper = await kept(startKeeper({ clock, logger: silentLogger }, { ...options, file, pages }));
    let over = false;
    void keeper.election.run(new AbortController().signal).then(() => {
      over = true;
    });
    for (let lives = 1; !over && lives <= 9; lives += 1) {
      await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(lives);
      clock.step(stepMs);
      await clock.advance(lifeMs);
      asked.at(-1)?.();
      // Beside the heartbeat, the pause before another thread sleeps.
      await expect.poll(() => over || clock.sleepers > 1, { timeout: 20_000 }).toBe(true);
      await clock.advance(250 * 2 ** 4);
    }
    expect(asked.length - 1).toBe(replaced);
  },
);

it('a stop while the thread is dead ends the election: the lease runs out by itself', async () => {
  const file = await threadOf(`
    port.postMessage({ kind: 'listening', port: 1 });
    port.on('message', ({ kind }) => { if (kind === 'release') process.exit(1); });`);
  const keeper = await kept(startKeeper({ clock: systemClock, logger: silentLogger }, { ...options, file, pages: {} }));
  const stop = new AbortController();
  const end = keeper.election.run(stop.signal);
  stop.abort();
  expect(await end).toBe('stopped');
});

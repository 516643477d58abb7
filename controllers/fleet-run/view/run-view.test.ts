import { describe, expect, it } from 'vitest';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { commandIdOf, type EdgeNews } from '../../../lib/edge/index.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import type { LoggedNews } from './news-reader.ts';
import { RunView } from './run-view.ts';

const uid = 'run-1';
const run = { metadata: { name: 'run', namespace: 'tenant-acme', uid }, spec: {} } as unknown as FleetRun;
const ids = { tenant: 'acme', run: uid, node_id: 'n', command_id: commandIdOf(uid, 'n'), at: '2026-01-01T00:00:00Z' };

/** A view looks again at once. */
const hasty: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 10), signal) };

/** The record of a host of which a view reads this news. */
const recordAfter = (...news: readonly EdgeNews[]) =>
  recordOf([news.map((one, index) => ({ sequence: index + 1, storedAt: index, news: one }))]);

/** The same of a log that gives these pages, and has lost what it gave where it is asked. */
async function recordOf(pages: LoggedNews[][], { isLost = false } = {}) {
  const read = async function* () {
    yield* pages.shift() ?? [];
  };
  const listen = () => ({ [Symbol.asyncDispose]: async () => undefined });
  const woken = Promise.withResolvers<void>();
  const isOver = (): boolean => view.unstored.all.length > 0 || !isLost;
  const view = new RunView(
    {
      clock: hasty,
      news: { read, has: async () => !isLost, listen },
      outputs: createFairPool({ size: 1_048_576, clock: systemClock }),
      keepArgs: () => async (make, task) => task(await make({})),
      wake: () => isOver() && woken.resolve(),
    },
    {
      run,
      tenant: 'acme',
      targets: { resolved: [{ node_id: 'n', host_uid: 'h', name: 'n' }], skipped: [] },
      records: [],
      isNew: true,
    },
  );
  void view.follow();
  await woken.promise;
  view.close();
  return view.unstored.all[0];
}

const bytes = Buffer.from('a€b€');
const out = (from: number, to: number): EdgeNews => ({
  ...ids,
  kind: 'progress',
  chunk: { stream: 'stdout', data: bytes.subarray(from, to).toString('base64') },
});

describe('the tails of a command without an answer of its own', () => {
  const late = { ...ids, kind: 'result', result: { outcome: 'timed_out', deadline_ms: 5_000 } } as const;

  it('EDGE-RES-29 have whole characters where chunks end within one', async () => {
    const record = await recordAfter(out(0, 2), out(2, 3), out(3, 8), late);
    expect(record).toMatchObject({ outcome: 'timed_out', stdout_tail: 'a€b€', deadline_ms: 5_000, exit_code: null });
  });

  it('EDGE-RES-29 have output once that a log which lost its newest is read for again', async () => {
    const [a, b] = [out(0, 1), out(4, 5)];
    const first = { sequence: 7, storedAt: 70, news: a };
    const again = [first, { sequence: 8, storedAt: 80, news: b }, { sequence: 9, storedAt: 90, news: late }];
    expect(await recordOf([[first], [], [], again], { isLost: true })).toMatchObject({ stdout_tail: 'ab' });
  });

  it('EDGE-RES-29 say that the last character was cut off', async () => {
    expect(await recordAfter(out(0, 6), late)).toMatchObject({ stdout_tail: 'a€b\ufffd' });
  });

  it.each([
    [{ outcome: 'err', code: 'OutcomeUnknown', message: '', exit_code: 0 }, null],
    [{ outcome: 'err', code: 'CommandFailed', message: '', exit_code: 2 }, 2],
    [{ outcome: 'ok', exit_code: 0, duration_ms: 1 }, 0],
  ] as const)('EDGE-RES-29 the exit code of %j is %s', async (result, want) => {
    expect(await recordAfter({ ...ids, kind: 'result', result })).toMatchObject({ exit_code: want });
  });
});

import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../test/support/silent-logger.ts';
import type { Controller } from './controller.ts';
import { type RunDeps, runReplica } from './run.ts';

describe('a replica', () => {
  /** Writes down the order of things. */
  function replica(options: { lose?: boolean; leads?: boolean } = {}) {
    const order: string[] = [];
    const stop = new AbortController();
    const untilAborted = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    const note = (what: string) => void order.push(what);
    const controller: Pick<Controller, 'run'> = {
      run: async (signal) => {
        note('work');
        await untilAborted(signal);
        note('drained');
      },
    };
    const deps: RunDeps = {
      runtime: { stop: stop.signal },
      logger: silentLogger,
      election: {
        run: async (signal, onStarted) => {
          if (options.leads !== false) onStarted?.();
          if (options.lose) return 'lost';
          await untilAborted(signal);
          note('released');
          return 'stopped';
        },
      },
      informers: [
        {
          run: async (signal) => {
            await untilAborted(signal);
            note('unwatched');
          },
          synced: Promise.resolve(),
          hasSynced: true,
        },
      ],
      controllers: [controller as Controller],
      recorder: { flush: async () => note('flushed') },
      onLeading: (leading) => note(leading ? 'leading' : 'following'),
    };
    return { order, stop, deps };
  }

  it('stops in order: workers drain, events are written, the lease is released, watches end', async () => {
    const { order, stop, deps } = replica();
    const code = runReplica(deps);
    await expect.poll(() => order).toContain('work');
    stop.abort();
    expect(await code).toBe(0);
    expect(order).toEqual(['leading', 'work', 'drained', 'following', 'flushed', 'released', 'unwatched']);
  });

  it('that never led works nothing and stops as well', async () => {
    const { order, stop, deps } = replica({ leads: false });
    const code = runReplica(deps);
    setTimeout(() => stop.abort(), 20);
    expect(await code).toBe(0);
    expect(order).toEqual(['released', 'unwatched']);
  });

  it('that lost the lease ends with code 1 and without draining', async () => {
    const { order, deps } = replica({ lose: true });
    expect(await runReplica(deps)).toBe(1);
    expect(order).toEqual(['leading', 'work', 'following', 'unwatched']);
  });

  it('that can compete no more ends with code 1, though it never led', async () => {
    const { order, deps } = replica({ lose: true, leads: false });
    expect(await runReplica(deps)).toBe(1);
    expect(order).toEqual(['unwatched']);
  });

  it('that is stopped before its caches are there ends at once', async () => {
    const { order, stop, deps } = replica();
    const code = runReplica({
      ...deps,
      informers: deps.informers.map((one) => ({ ...one, synced: new Promise<void>(() => undefined) })),
    });
    stop.abort();
    expect(await code).toBe(0);
    expect(order).toEqual(['unwatched']);
  });
});

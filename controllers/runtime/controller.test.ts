import { describe, expect, it } from 'vitest';
import { AppError, TerminalError, WaitError } from '../../lib/errors.ts';
import { KubeError } from '../../lib/kube/index.ts';
import type { LogFields, Logger } from '../../lib/logger.ts';
import { createManualClock } from '../../lib/manual-clock.ts';
import { createController, type Reconcile } from './controller.ts';

interface Line extends LogFields {
  readonly level: string;
  readonly message: string;
}

function recordingLogger(lines: Line[], bound: LogFields = {}): Logger {
  const at = (level: string) => (fields: LogFields, message: string) =>
    void lines.push({ ...bound, ...fields, level, message });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recordingLogger(lines, { ...bound, ...fields }),
  };
}

function setUp(reconcile: Reconcile, workers = 2) {
  const clock = createManualClock(0);
  const lines: Line[] = [];
  const outcomes: string[] = [];
  let ids = 0;
  const observer = { reconciled: (outcome: string) => void outcomes.push(outcome) };
  const newId = () => `id-${(ids += 1)}`;
  const deps = { clock, logger: recordingLogger(lines), newId, observer, random: () => 1 };
  const controller = createController(deps, { kind: 'Thing', reconcile, workers, baseDelayMs: 100, maxDelayMs: 1_000 });
  const stop = new AbortController();
  return { controller, clock, lines, outcomes, stop };
}

const conflict = new KubeError(409, { reason: 'Conflict' }, { verb: 'patch', resource: 'things' });

describe('what becomes of a key', () => {
  const cases: Record<
    string,
    { act: () => unknown; outcome: string; againAfter: number | undefined; level: string | undefined }
  > = {
    'done: nothing more': { act: () => undefined, outcome: 'done', againAfter: undefined, level: undefined },
    'a time to look again': {
      act: () => ({ requeueAfterMs: 700, reason: 'deadline' }),
      outcome: 'requeue',
      againAfter: 700,
      level: 'debug',
    },
    'WaitError: the same, with no fuss': {
      act: () => {
        throw new WaitError('VolumesPending', 400);
      },
      outcome: 'wait',
      againAfter: 400,
      level: 'debug',
    },
    'TerminalError: logged and not tried again': {
      act: () => {
        throw new TerminalError('InvalidDefinition', 'no');
      },
      outcome: 'terminal',
      againAfter: undefined,
      level: 'warn',
    },
    'a conflict: tried again, silently': {
      act: () => {
        throw conflict;
      },
      outcome: 'conflict',
      againAfter: 100,
      level: 'debug',
    },
    'lost leadership: given up for now': {
      act: () => {
        throw new AppError('lost_leadership', 'no');
      },
      outcome: 'lost_leadership',
      againAfter: 1_000,
      level: 'info',
    },
    'anything else: tried again, logged as an error': {
      act: () => {
        throw new Error('boom');
      },
      outcome: 'failed',
      againAfter: 100,
      level: 'error',
    },
    'a throw of something that is no Error': {
      act: () => {
        // oxlint-disable-next-line no-throw-literal -- whatever a dependency throws must be survived
        throw 'text';
      },
      outcome: 'failed',
      againAfter: 100,
      level: 'error',
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { act, outcome, againAfter, level }) => {
    let calls = 0;
    const { controller, clock, outcomes, lines, stop } = setUp(async () => {
      calls += 1;
      return calls === 1 ? (act() as undefined) : undefined;
    });
    const running = controller.run(stop.signal);
    controller.queue.add('a/x');
    await clock.advance((againAfter ?? 3_600_000) - 1);
    expect(outcomes).toEqual([outcome]);
    expect(lines.map((line) => line.level)).toEqual(level === undefined ? [] : [level]);
    await clock.advance(1);
    expect(outcomes).toEqual(againAfter === undefined ? [outcome] : [outcome, 'done']);
    expect(controller.queue.failures('a/x')).toBe(0);
    stop.abort();
    await running;
  });

  it('failures in a row wait longer and longer, and are told to the reconcile', async () => {
    const failures: number[] = [];
    const { controller, clock, stop } = setUp(async (_, context) => {
      failures.push(context.failures);
      throw new Error('boom');
    });
    const running = controller.run(stop.signal);
    controller.queue.add('a/x');
    await clock.advance(100 + 200 + 400);
    expect(failures).toEqual([0, 1, 2, 3]);
    stop.abort();
    await running;
  });
});

describe('workers', () => {
  it('one key is never worked on twice at once, several keys are, up to the number of workers', async () => {
    const active = new Set<string>();
    let most = 0;
    const { controller, stop } = setUp(async (key) => {
      expect(active.has(key)).toBe(false);
      active.add(key);
      most = Math.max(most, active.size);
      await new Promise((resolve) => setTimeout(resolve, 2));
      active.delete(key);
    }, 3);
    const running = controller.run(stop.signal);
    for (let round = 0; round < 5; round++) {
      for (const key of ['a', 'b', 'c', 'd', 'e']) controller.queue.add(key);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await expect.poll(() => active.size + controller.queue.depth).toBe(0);
    expect(most).toBe(3);
    stop.abort();
    await running;
  });

  it('a stop lets running reconciles end and begins no other', async () => {
    const done: string[] = [];
    let finish: () => void = () => undefined;
    const { controller, stop } = setUp(async (key) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      done.push(key);
    }, 1);
    const running = controller.run(stop.signal);
    controller.queue.add('a');
    controller.queue.add('b');
    await expect.poll(() => controller.queue.depth).toBe(1);
    stop.abort();
    finish();
    await running;
    expect(done).toEqual(['a']);
  });

  it('every line of one reconcile carries its kind, object and id', async () => {
    const { controller, lines, stop, clock } = setUp(async (_, { logger }) => logger.info({ step: 1 }, 'hello'));
    const running = controller.run(stop.signal);
    controller.queue.add('team-a/x');
    controller.queue.add('y');
    await clock.advance(1);
    expect(lines).toMatchObject([
      { kind: 'Thing', namespace: 'team-a', name: 'x', reconcileId: 'id-1', message: 'hello' },
      { kind: 'Thing', name: 'y', reconcileId: 'id-2', message: 'hello' },
    ]);
    stop.abort();
    await running;
  });
});

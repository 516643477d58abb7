import { describe, expect, it } from 'vitest';
import { AppError, TerminalError, WaitError } from '../../lib/errors.ts';
import { KubeError } from '../../lib/kube/index.ts';
import type { LogFields, Logger } from '../../lib/logger.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createController, type Reconcile } from './controller.ts';
import { RefusedError } from './outcome.ts';

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
  const overdue: number[] = [];
  const observer = {
    reconciled: (outcome: string) => void outcomes.push(outcome),
    overdue: (count: number) => void overdue.push(count),
  };
  const newId = () => `id-${(ids += 1)}`;
  const deps = { clock, logger: recordingLogger(lines), newId, observer, random: () => 1 };
  const controller = createController(deps, { kind: 'Thing', reconcile, workers });
  const stop = new AbortController();
  return { controller, clock, lines, outcomes, overdue, stop };
}

const forbidden = (message: string) =>
  new KubeError(403, { reason: 'Forbidden', message }, { verb: 'create', resource: 'things' });
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
      againAfter: 50,
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
    'a right that is missing: tried again later, warned of': {
      act: () => {
        throw forbidden('pods is forbidden: User "x" cannot create resource "pods"');
      },
      outcome: 'forbidden',
      againAfter: 1_000,
      level: 'warn',
    },
    'a namespace that is being deleted: the same': {
      act: () => {
        throw forbidden('unable to create new content in namespace a because it is being terminated');
      },
      outcome: 'forbidden',
      againAfter: 1_000,
      level: 'warn',
    },
    'a namespace that is gone: the same': {
      act: () => {
        throw new KubeError(
          404,
          { reason: 'NotFound', message: 'namespaces "a" not found' },
          { verb: 'create', resource: 'things' },
        );
      },
      outcome: 'forbidden',
      againAfter: 1_000,
      level: 'warn',
    },
    'a refusal before a deadline: tried again when that has come': {
      act: () => {
        throw new RefusedError(forbidden('no'), 300);
      },
      outcome: 'forbidden',
      againAfter: 300,
      level: 'warn',
    },
    'a full quota: a failure like any other': {
      act: () => {
        throw forbidden('exceeded quota: windlass');
      },
      outcome: 'failed',
      againAfter: 50,
      level: 'error',
    },
    'anything else: tried again, logged as an error': {
      act: () => {
        throw new Error('boom');
      },
      outcome: 'failed',
      againAfter: 50,
      level: 'error',
    },
    'a throw of something that is no Error': {
      act: () => {
        // oxlint-disable-next-line no-throw-literal -- whatever a dependency throws must be survived
        throw 'text';
      },
      outcome: 'failed',
      againAfter: 50,
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

  it('failures in a row wait longer and longer', async () => {
    const times: number[] = [];
    const { controller, clock, stop } = setUp(async () => {
      times.push(clock.now());
      throw new Error('boom');
    });
    const running = controller.run(stop.signal);
    controller.queue.add('a/x');
    await clock.advance(50 + 100 + 200);
    expect(times).toEqual([0, 50, 150, 350]);
    stop.abort();
    await running;
  });
});

it.each([
  ['however many objects it has', 0],
  ['also where the time of day is set back by a day', -86_400_000],
])('refusals of one namespace are warned of once an hour, %s', async (_what, stepMs) => {
  const { controller, clock, lines, stop } = setUp(async () => {
    throw forbidden('no');
  });
  const running = controller.run(stop.signal);
  const warned = () => lines.filter(({ level }) => level === 'warn').map(({ namespace }) => namespace);
  for (const key of ['a/1', 'a/2', 'b/1', 'a/3']) controller.queue.add(key);
  await clock.advance(0);
  clock.step(stepMs);
  await clock.advance(3_599_999);
  expect(warned()).toEqual(['a', 'b']);
  await clock.advance(600_000);
  expect(warned()).toEqual(['a', 'b', 'a', 'b']);
  expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(['warn', 'debug']));
  stop.abort();
  await running;
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

  it.each([
    { workers: 1, spare: 1 },
    { workers: 4, spare: 1 },
    { workers: 5, spare: 2 },
    { workers: 16, spare: 4 },
  ])('of $workers one namespace has all, and $spare more are there for others', async ({ workers, spare }) => {
    const begun: string[] = [];
    const { controller, stop, clock } = setUp((key) => {
      begun.push(key);
      return new Promise(() => undefined);
    }, workers);
    void controller.run(stop.signal);
    for (let i = 0; i < 40; i++) controller.queue.add(`hanging/${i}`);
    await clock.advance(1);
    expect(begun).toHaveLength(workers);
    for (let i = 0; i < 40; i++) controller.queue.add(`other${i}/1`);
    await clock.advance(1);
    expect(begun.slice(workers)).toEqual(Array.from({ length: spare }, (_, i) => `other${i}/1`));
    stop.abort();
  });

  it('a reconcile without an end keeps its object, and gives its place to others after five minutes', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const { controller, stop, clock, lines, overdue, outcomes } = setUp((key) => {
      begun.push(key);
      return key.startsWith('hanging/') ? new Promise<void>((resolve) => ends.push(resolve)) : Promise.resolve();
    }, 4);
    const running = controller.run(stop.signal);
    for (let i = 0; i < 4; i++) controller.queue.add(`hanging/${i}`);
    await clock.advance(1);
    for (let i = 4; i < 10; i++) controller.queue.add(`hanging/${i}`);
    controller.queue.add('hanging/0');
    await clock.advance(299_998);
    expect([begun.length, overdue, lines]).toEqual([4, [], []]);
    await clock.advance(1);
    expect(overdue).toEqual([1, 2, 3, 4]);
    expect(begun.slice(4)).toEqual(['hanging/4', 'hanging/5', 'hanging/6', 'hanging/7']);
    expect(lines[0]).toMatchObject({ level: 'error', name: '0', reconcileId: 'id-1', message: 'reconcile overdue' });
    controller.queue.add('other/1');
    await clock.advance(1);
    expect(begun.at(-1)).toBe('other/1');
    // News of the object waits for the late end, so that no two reconciles of it meet.
    expect(begun.filter((key) => key === 'hanging/0')).toHaveLength(1);
    for (const end of ends.splice(0)) end();
    await clock.advance(1);
    expect([overdue.at(-1), outcomes.length]).toEqual([0, 9]);
    expect(begun.slice(9).sort()).toEqual(['hanging/0', 'hanging/8', 'hanging/9']);
    // The places of the late ones were given back once: four of the namespace run again, and no more.
    for (let i = 20; i < 30; i++) controller.queue.add(`hanging/${i}`);
    await clock.advance(1);
    expect(begun.slice(12)).toHaveLength(1);
    stop.abort();
    for (const end of ends) end();
    await running;
  });

  it('a stop waits for no reconcile that is overdue', async () => {
    const { controller, stop, clock } = setUp(() => new Promise(() => undefined), 1);
    const running = controller.run(stop.signal);
    controller.queue.add('a/1');
    await clock.advance(300_000);
    stop.abort();
    await expect(running).resolves.toBeUndefined();
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
    const { controller, lines, stop, clock } = setUp(async () => {
      throw new TerminalError('InvalidDefinition', 'no');
    });
    const running = controller.run(stop.signal);
    controller.queue.add('team-a/x');
    controller.queue.add('y');
    await clock.advance(1);
    expect(lines).toMatchObject([
      { kind: 'Thing', namespace: 'team-a', name: 'x', reconcileId: 'id-1' },
      { kind: 'Thing', name: 'y', reconcileId: 'id-2' },
    ]);
    stop.abort();
    await running;
  });
});

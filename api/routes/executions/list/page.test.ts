import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import { anExecution } from '../../../../test/builders/execution-builder.ts';
import { countTurns } from '../../../../test/support/count-turns.ts';
import { createTimeCursor, type TimeKey } from '../../../../lib/http/paging.ts';
import { executionPage } from './page.ts';

const timeCursor = createTimeCursor('executions');
const uidOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

function made(number: number, second: number, build = anExecution()): WorkflowExecution {
  const execution = build.build();
  const creationTimestamp = `2026-01-02T03:04:${String(second).padStart(2, '0')}Z`;
  return { ...execution, metadata: { ...execution.metadata, uid: uidOf(number), creationTimestamp } };
}

const numbersOf = (executions: readonly WorkflowExecution[]) =>
  executions.map(({ metadata }) => Number(metadata.uid?.slice(-12)));

/** All pages of what `all` gives at the time of each. */
async function walk(all: (page: number) => readonly WorkflowExecution[], limit: number): Promise<number[]> {
  const seen: number[] = [];
  let after: TimeKey | undefined;
  for (let page = 0; page < 1_000; page++) {
    const { rows, next } = await executionPage(all(page), { limit, after });
    seen.push(...numbersOf(rows));
    if (next === undefined) return seen;
    after = timeCursor.decode(timeCursor.encode(next));
  }
  throw new Error('the pages never end');
}

const someExecutions = fc
  .uniqueArray(fc.record({ number: fc.integer({ min: 0, max: 500 }), second: fc.integer({ min: 0, max: 5 }) }), {
    selector: ({ number }) => number,
    maxLength: 60,
  })
  .map((rows) => rows.map(({ number, second }) => made(number, second)));

describe('pages of executions', () => {
  it('list each exactly once, the newest first, whatever their size', async () => {
    await fc.assert(
      fc.asyncProperty(someExecutions, fc.integer({ min: 1, max: 70 }), async (all, limit) => {
        const want = all.toSorted((a, b) => {
          const [x, y] = [a.metadata, b.metadata];
          return (
            (y.creationTimestamp ?? '').localeCompare(x.creationTimestamp ?? '') ||
            (x.uid ?? '').localeCompare(y.uid ?? '')
          );
        });
        expect(await walk(() => all, limit)).toEqual(numbersOf(want));
      }),
    );
  });

  it('list what stays exactly once while others come and go', async () => {
    await fc.assert(
      fc.asyncProperty(someExecutions, someExecutions, fc.integer({ min: 1, max: 9 }), async (all, others, limit) => {
        const staying = all.filter((one) => !others.some(({ metadata }) => metadata.uid === one.metadata.uid));
        const seen = await walk((page) => [...staying, ...others.slice(page % 7, (page % 7) + 9)], limit);
        const ids = numbersOf(staying);
        expect(new Set(seen.filter((number) => ids.includes(number)))).toEqual(new Set(ids));
        expect(new Set(seen).size).toBe(seen.length);
      }),
    );
  });

  it.each([
    [1, 1],
    [199, 199],
    [200, 200],
    [201, 200],
    [5_000, 200],
  ])('of %i have %i', async (limit, want) => {
    const all = Array.from({ length: 300 }, (_, number) => made(number, 0));
    expect((await executionPage(all, { limit, after: undefined })).rows).toHaveLength(want);
  });

  it('EDGE-REST-16 are looked for in turns of the event loop', async () => {
    const all = Array<WorkflowExecution>(50_000).fill(made(1, 1));
    const query = { limit: 9, after: undefined, status: 'failed' } as const;
    expect(await countTurns(async () => executionPage(all, query))).toBeGreaterThanOrEqual(4);
  });

  it('are filtered by status, and by the name or id of the workflow', async () => {
    const running = made(1, 1, anExecution().status({ phase: 'running' }));
    const done = made(2, 2, anExecution().ended('completed', 1));
    const pending = made(3, 3, anExecution().with({ workflow: 'other' }));
    const all = [running, done, pending];
    const of = async (query: object) =>
      numbersOf((await executionPage(all, { limit: 9, after: undefined, ...query })).rows);
    expect(await of({ status: 'running' })).toEqual([1]);
    expect(await of({ status: 'pending' })).toEqual([3]);
    expect(await of({ workflow: 'demo' })).toEqual([2, 1]);
    expect(await of({ workflow: 'w' })).toEqual([2, 1]);
    expect(await of({ workflow: 'other' })).toEqual([3]);
    expect(await of({ workflow: 'other', status: 'running' })).toEqual([]);
  });
});

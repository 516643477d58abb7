import { describe, expect, it } from 'vitest';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { isLogComplete, logSources, placeText, streamBlob, streamPaths } from './log-source.ts';

const result = (stdout: string) => ({ exit_code: 0, stdout, stderr: '' });
const execution = anExecution()
  .past({ state: 'build', attempts: 3, output: { value: { output: result('first') } } })
  .past({ state: 'ask', kind: 'Human' }, { output: 'yes' })
  .past({ state: 'build', visit: 2 }, { output: result('second') })
  .past(
    { state: 'checks', kind: 'ParallelContainerRun' },
    { status: 'success', output: { unit: result('u'), lint: result('l') } },
  )
  .now({
    state: 'more',
    kind: 'ParallelContainerRun',
    steps: { fast: { status: 'success', result: { value: result('f') } } },
  })
  .build();

const places = (...choice: Parameters<typeof logSources> extends [unknown, infer C] ? [C] : never): string[] =>
  logSources(execution, choice[0]).map((source) => `${source.kind} ${placeText(source)}`);

describe('which logs there are', () => {
  it('all in the order of the visits, of states that run commands', () => {
    expect(places({})).toEqual([
      'stored build',
      'stored build visit 2',
      'stored checks step unit',
      'stored checks step lint',
      'stored more step fast',
      'pod more',
    ]);
  });

  it.each([
    [{ state: 'build' }, ['stored build', 'stored build visit 2']],
    [{ state: 'build', visit: 2 }, ['stored build visit 2']],
    [{ state: 'checks', step: 'lint' }, ['stored checks step lint']],
    [{ step: 'fast' }, ['stored more step fast']],
    [{ state: 'more', step: 'slow' }, ['pod more step slow']],
  ])('%j', (choice, want) => {
    expect(places(choice)).toEqual(want);
  });

  it('a stored log knows which attempt it is of, and an earlier visit has its own value', () => {
    expect(logSources(execution, { state: 'build', visit: 1 })).toEqual([
      expect.objectContaining({ attempts: 3, value: { value: { output: result('first') } } }),
    ]);
  });

  it('those of the visit that a cancellation cut short are there as well', () => {
    const interrupted = { ...execution.status?.current };
    const status = { ...execution.status, phase: 'cancelled', current: undefined, interrupted };
    const sources = logSources({ ...execution, status } as typeof execution, { state: 'more' });
    expect(sources.map(placeText)).toEqual(['more step fast', 'more']);
  });

  it.each([{ state: 'nope' }, { state: 'build', visit: 3 }, { state: 'ask' }, { state: 'build', step: 'x' }])(
    '%j is not found, and what there is is named',
    (choice) => {
      const refusal = expect.objectContaining({
        code: 'not_found',
        facts: { known: expect.arrayContaining(['build visit 2']) },
      });
      expect(() => logSources(execution, choice)).toThrow(refusal);
    },
  );
});

describe('logs are complete', () => {
  const again = anExecution().past({ state: 'build' }).now({ state: 'build', kind: 'ContainerRun', visit: 2 }).build();
  const later = anExecution()
    .past({ state: 'build' })
    .past({ state: 'build', visit: 2 })
    .now({ state: 'ask', kind: 'Human' })
    .build();

  it('of a visit when it has ended, also while a later one of the same state runs', () => {
    expect(isLogComplete(again, { state: 'build', visit: 1 })).toBe(true);
    expect(isLogComplete(again, { state: 'build', visit: 2 })).toBe(false);
    expect(isLogComplete(later, { state: 'build', visit: 2 })).toBe(true);
    expect(isLogComplete(later, { state: 'build', visit: 3 })).toBe(false);
  });

  it('of a state when it has run and does not run now', () => {
    expect(isLogComplete(again, { state: 'build' })).toBe(false);
    expect(isLogComplete(later, { state: 'build' })).toBe(true);
    expect(isLogComplete(later, { state: 'ask' })).toBe(false);
    expect(isLogComplete(later, { state: 'more' })).toBe(false);
  });

  it('of an execution when it has ended, whatever was named', () => {
    const over = anExecution().past({ state: 'build' }).ended('completed', 1).build();
    expect([{}, { state: 'build' }, { state: 'more', visit: 2 }].map((wish) => isLogComplete(over, wish))).toEqual([
      true,
      true,
      true,
    ]);
    expect(isLogComplete(later, {})).toBe(false);
  });
});

describe('the place of a stream', () => {
  const ref = (path: string, encoding: 'text' | 'json' = 'text') => ({ path, ref: path, bytes: 1, encoding });

  it.each<[title: string, step: string | undefined, refs: ReturnType<typeof ref>[], want: string | undefined]>([
    ['under output', undefined, [ref('/output/stderr'), ref('/output/stdout')], '/output/stdout'],
    ['at the top', undefined, [ref('/stdout')], '/stdout'],
    ['under the step', 'unit', [ref('/output/lint/stdout'), ref('/output/unit/stdout')], '/output/unit/stdout'],
    ['in the result of a single step', 'unit', [ref('/stdout')], '/stdout'],
    ['inside the whole value, which is no stream', undefined, [ref('', 'json')], undefined],
  ])('%s', (_title, step, refs, want) => {
    expect(streamBlob({ refs }, streamPaths(step, 'stdout'))?.path).toBe(want);
  });
});

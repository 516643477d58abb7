import { describe, expect, it } from 'vitest';
import { anEnd, anUpdate, aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';

const large = (bytes: number): Record<string, string> => ({ big: 'x'.repeat(bytes) });
const visits = ({ status }: World): string[] =>
  (status.history ?? []).map(({ state, reason }) => (reason === undefined ? state : `${state} ${reason}`));

describe('AMB-022 an output that the store has no room for', () => {
  it('fails the state that made it and not the next one, which runs', () => {
    const workflow = aWorkflow('w')
      .state('fill', anUpdate(large(5_000), 'after'))
      .state('after', aScript('true'))
      .build();
    const world = new World(workflow, { budget: 1_000 }).settle();
    expect(visits(world)).toEqual(['fill OutputBudgetExceeded']);
    expect(world.status).toMatchObject({ phase: 'running', state: 'after' });
    expect(world.pods.size).toBe(1);
  });

  it.each<[title: string, first: number, second: number, want: string[]]>([
    ['the first', 5_000, 3_000, ['first OutputBudgetExceeded', 'second', 'end']],
    ['the second', 3_000, 5_000, ['first', 'second OutputBudgetExceeded', 'end']],
    [
      'the second, whatever its size, once the first has filled the store',
      3_900,
      3_000,
      ['first', 'second OutputBudgetExceeded', 'end'],
    ],
    ['both', 5_000, 4_500, ['first OutputBudgetExceeded', 'second OutputBudgetExceeded', 'end']],
  ])(
    'fails those that do not fit of several states that one decision passes through: %s',
    (_title, first, second, want) => {
      const workflow = aWorkflow('w')
        .state('first', anUpdate(large(first), 'second'))
        .state('second', anUpdate({ other: 'y'.repeat(second) }, 'end'))
        .state('end', anEnd())
        .build();
      expect(visits(new World(workflow, { budget: 4_000 }).settle())).toEqual(want);
    },
  );

  it('fails the execution where no failing state helps', () => {
    const workflow = aWorkflow('w')
      .with({ output_template: { copy: '{{input.big}}' } })
      .state('only', anEnd())
      .build();
    const world = new World(workflow, { budget: 1_000, spec: { input: large(40_000) } }).settle();
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'OutputBudgetExceeded' });
    expect(world.status.final_output_ref).toBeUndefined();
  });
});

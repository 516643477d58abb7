import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { checkDefinition } from '../../lib/definition/check.ts';
import { anEnd, anUpdate, aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { anOutcome } from '../builders/world-pods.ts';
import { Arena } from './support/arena.ts';
import { hostileShapes, listOf } from './support/json-shapes.ts';
import { restedMsOf, turnMs } from './support/turns.ts';

const shapes = Object.entries(hostileShapes).map(([name, text]) => ({ name, text }));

/** A step whose outcome is tested by `custom` rules. */
const withRules = (expressions: readonly string[]): Workflow =>
  aWorkflow('w')
    .state(
      'a',
      aScript('true', {
        transitions: [
          ...expressions.map((expression) => ({ condition: 'custom' as const, expression, target: 'end' })),
          { target: 'end' },
        ],
      }),
    )
    .state('end', anEnd())
    .build();

const manyEnv = (count: number, value: string, part = 0): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${part}_${index}`, value]));

describe('an attacker who may start any legal workflow in their own namespace', () => {
  it.each(shapes)('does not hold the event loop with nineteen rules over an input of $name', async ({ text }) => {
    const rules = Array.from({ length: 19 }, (_, index) => `input.a == "x${index}"`);
    const arena = new Arena(withRules(rules), { spec: { input: { a: JSON.parse(text) as never } } });
    await arena.run();
    if (arena.world.status.current !== undefined) {
      arena.world.end('a');
      await arena.run();
    }
    expect(arena.longestMs).toBeLessThan(turnMs);
    expect(['completed', 'failed']).toContain(arena.world.status.phase);
  });

  it.each(shapes)('does not hold it with nineteen paths into an output of $name', async ({ text }) => {
    const rules = Array.from({ length: 19 }, (_, index) => `a.output.stdout.x${index} == "x"`);
    const arena = await new Arena(withRules(rules)).run();
    arena.world.end('a', anOutcome({ stdout: text }));
    await arena.run();
    expect(arena.longestMs).toBeLessThan(turnMs);
    const { phase, reason } = arena.world.status;
    // JSON that is dearer than any that a program writes is refused, and says so.
    expect([phase, reason]).toEqual(phase === 'failed' ? ['failed', 'WorkBudgetExceeded'] : ['completed', 'Completed']);
  });

  const updates = (states: number): Workflow => {
    const builder = aWorkflow('w').with({ max_total_transitions: 100 });
    for (let state = 0; state < states; state += 1) {
      builder.state(`s${state}`, anUpdate(manyEnv(200, '{{input.a}}', state), `s${state + 1}`));
    }
    return builder.state(`s${states}`, anEnd()).build();
  };

  it('does not hold it with twenty states that write 200 keys each, and all of them are written', async () => {
    const arena = await new Arena(updates(20), { spec: { input: { a: 1 } } }).run();
    expect(arena.longestMs).toBeLessThan(turnMs);
    expect(arena.world.status).toMatchObject({ phase: 'completed' });
    expect(Object.keys(arena.world.status.blackboard ?? {})).toHaveLength(4_000 + 21);
  });

  it('does not hold it with more keys than a status takes, and reports it', { timeout: 120_000 }, async () => {
    const arena = await new Arena(updates(60), { spec: { input: { a: 1 } } }).run();
    expect(arena.longestMs).toBeLessThan(turnMs);
    expect(['completed', 'failed']).toContain(arena.world.status.phase);
    expect(arena.world.status.history?.map(({ reason }) => reason)).toContain('StatusTooLarge');
  });

  it('does not hold it with thousands of texts that have to be made small', async () => {
    const texts = Array.from({ length: 5_200 }, (_, index) => `${index}${'x'.repeat(260)}`);
    const arena = await new Arena(aWorkflow('w').state('end', anEnd()).build(), {
      spec: { blackboard: { texts } },
    }).run();
    expect(arena.longestMs).toBeLessThan(turnMs);
    expect(arena.world.board()['texts']).toEqual(texts);
  });

  it('has a state fail that does more than one turn may, with what to do about it', async () => {
    const many = `{{#each input.a}}${'{{#each @root.input.a}}'.repeat(2)}x${'{{/each}}'.repeat(2)}{{/each}}`;
    const workflow = aWorkflow('w')
      .state('first', anUpdate({ ok: 'kept' }, 'heavy'))
      .state('heavy', {
        ...anUpdate({ k: many }, 'end'),
        transitions: [
          { condition: 'on_failure', target: 'after' },
          { condition: 'on_success', target: 'end' },
        ],
      })
      .state('after', anEnd())
      .state('end', anEnd())
      .build();
    const input = { a: JSON.parse(listOf('0', 10_000)) as never };
    const { world, longestMs } = await new Arena(workflow, { spec: { input } }).run();
    expect(longestMs).toBeLessThan(turnMs);
    expect(world.status.phase).toBe('completed');
    expect(world.board()).toMatchObject({ ok: 'kept' });
    expect(world.status.history?.find(({ state }) => state === 'heavy')).toMatchObject({
      status: 'failed',
      reason: 'WorkBudgetExceeded',
      message: expect.stringMatching(/rendering templates takes too much work.*loop over less/),
    });
    expect(world.visits()).toEqual(['first', 'heavy', 'after']);
  });

  it('has an execution fail whose rules are too much work, though its states are not', async () => {
    const loop = '"{{#each input.a}}{{#each @root.input.a}}x{{/each}}{{/each}}" == "y"';
    const input = { a: JSON.parse(listOf('0', 10_000)) as never };
    const arena = await new Arena(withRules([loop]), { spec: { input } }).run();
    arena.world.end('a');
    await arena.run();
    expect(arena.longestMs).toBeLessThan(turnMs);
    expect(arena.world.status).toMatchObject({ phase: 'failed', reason: 'WorkBudgetExceeded' });
  });

  it('does not hold it with a chain of states that are each within the bound', async () => {
    const loop = '{{#each input.a}}{{#each @root.input.a}}x{{/each}}{{/each}}';
    const builder = aWorkflow('w').with({ max_total_transitions: 100 });
    for (let state = 0; state < 30; state += 1) builder.state(`s${state}`, anUpdate({ k: loop }, `s${state + 1}`));
    const input = { a: JSON.parse(listOf('0', 600)) as never };
    const arena = await new Arena(builder.state('s30', anEnd()).build(), { spec: { input } }).run();
    expect(arena.longestMs).toBeLessThan(turnMs);
    expect(arena.world.status.phase).toBe('completed');
    expect(arena.turns).toBeGreaterThan(10);
  });
});

describe('an attacker who may send a value of any depth', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

  it.each([limits.jsonDepth, limits.jsonDepth + 1, 6_000])(
    'gets an answer for an output of %i levels that a template reads as JSON',
    async (levels) => {
      const workflow = aWorkflow('w')
        .state('a', aScript('true', { next: 'b' }))
        .state('b', anUpdate({ copy: '{{a.output.stdout.0}}' }, 'end'))
        .state('end', anEnd())
        .build();
      const arena = await new Arena(workflow).run();
      arena.world.end('a', anOutcome({ stdout: nested(levels) }));
      await arena.run();
      const isDeep = levels > limits.jsonDepth;
      expect(arena.world.status.history?.[1]).toMatchObject(
        isDeep ? { status: 'failed', reason: 'NestedTooDeep' } : { status: 'success' },
      );
      expect(['completed', 'failed']).toContain(arena.world.status.phase);
    },
  );

  it.each([limits.jsonDepth - 1, limits.jsonDepth, 1_000, 6_000])(
    'never makes a final output deeper than JSON is taken: a text of %i levels',
    async (levels) => {
      const workflow = aWorkflow('w')
        .with({ output_template: { deep: '{{a.output.stdout}}' } })
        .state('a', aScript('true'))
        .build();
      const arena = await new Arena(workflow).run();
      arena.world.end('a', anOutcome({ stdout: nested(levels) }));
      await arena.run();
      const { final_output: output, warnings, phase } = arena.world.status;
      expect(phase).toBe('completed');
      const isDeep = levels >= limits.jsonDepth;
      expect(output?.['deep']).toEqual(isDeep ? nested(levels) : (JSON.parse(nested(levels)) as unknown));
      const said = 'deep is nested deeper than 64 levels; left as text';
      expect(warnings ?? []).toEqual(isDeep ? [said] : []);
    },
  );

  it('gets an answer for a child whose result is 3,000 levels deep', async () => {
    const child = aWorkflow('child').state('end', anEnd()).build();
    const workflow = aWorkflow('w')
      .state('sub', { kind: 'Subworkflow', workflow_id: 'child', mode: 'blocking', transitions: [] })
      .build();
    const arena = await new Arena(workflow, { workflows: [child] }).run();
    arena.world.endChild({ phase: 'completed', result: JSON.parse(nested(3_000)) as unknown });
    await arena.run();
    expect(arena.world.status.history?.[0]).toMatchObject({ status: 'failed', reason: 'NestedTooDeep' });
  });
});

describe('an attacker who may register any definition', () => {
  const templates = {
    'brackets that are never closed': `{{${'['.repeat(65_500)}`,
    'quotes that are never closed': `{{${'" '.repeat(32_000)}`,
    'comments alone': '{{!}}'.repeat(3_300),
    'empty lines before a block': `${'\n'.repeat(65_000)}x{{#if a}}{{/if}}`,
    'blanks before a tag': `${' '.repeat(65_000)}x{{~a}}`,
    'runs of empty lines': `${'\n'.repeat(1_000)}x{{#if a}}{{/if}}`.repeat(60),
    calls: '{{default a "b"}}'.repeat(900),
  };

  it.each(Object.entries(templates))('does not hold the event loop with %s', (_name, source) => {
    const env = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`k${index}`, source + index]));
    const { spec } = aWorkflow('w').state('a', anUpdate(env)).build();
    expect(restedMsOf(() => checkDefinition(spec), turnMs)).toBeLessThan(turnMs);
  });

  it('pays for comments at each visit', async () => {
    const env = manyEnv(70, templates['comments alone']);
    const state = { ...anUpdate(env, 'a'), max_state_visits: 20 };
    const arena = await new Arena(aWorkflow('w').state('a', state).build()).run();
    expect(arena.longestMs).toBeLessThan(turnMs);
    expect(arena.world.status.history?.[0]).toMatchObject({ reason: 'WorkBudgetExceeded' });
  });
});

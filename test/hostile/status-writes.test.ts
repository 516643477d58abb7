import { describe, expect, it } from 'vitest';
import { Unwritten } from '../../controllers/execution/unwritten.ts';
import type { Decision } from '../../controllers/execution/engine/decision.ts';
import { engineLimits } from '../../controllers/execution/limits.ts';
import { anEnd, anUpdate, aWorkflow } from '../builders/workflow-builder.ts';
import { World, type WorldOptions } from '../builders/world.ts';
import { Arena } from './support/arena.ts';
import { dearestExecutions } from './support/dearest.ts';
import { listOf } from './support/json-shapes.ts';

const cases = dearestExecutions().map(({ workflow, input }) => ({ name: workflow.metadata.name, workflow, input }));

/** Decides each turn by itself, as often as there is something to decide. */
function turnByTurn(workflow: (typeof cases)[number]['workflow'], options: WorldOptions): World {
  return new World(workflow, options).settle();
}

/**
 * The attacker starts executions with an input of 1 MiB whose states take a turn of the event loop each. The API server
 * handles the whole object at each status write, which takes more of its time than the turn takes of ours, and all tenants
 * share it.
 */
describe('an execution of many dear turns', () => {
  it.each(cases)('$name ends after few status writes, as it would if each turn were written', async (dear) => {
    const options = { spec: { input: { a: JSON.parse(dear.input) } } };
    const { world, turns: writes } = await new Arena(dear.workflow, options, 'untimed').run();
    expect(world.status.finished_at).toBeDefined();
    // The last one changes nothing, and the end is a write of its own where values were stored before it.
    expect(writes).toBeLessThanOrEqual(5);
    const alone = turnByTurn(dear.workflow, options);
    const { stored_bytes: _, ...status } = world.status;
    expect(status).toEqual(alone.status);
    expect(world.happenings).toEqual(alone.happenings);
  });

  it('fails only the state at fault where what several turns have decided does not fit into a status', async () => {
    const keys = (state: string) =>
      Object.fromEntries(Array.from({ length: 200 }, (_, key) => [`${state}${key}_${'k'.repeat(240)}`, 'x']));
    const dear = { condition: 'custom', expression: '"{{json input.a}}" == "x"', target: 'end' } as const;
    const builder = aWorkflow('w');
    const states = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const [index, name] of states.entries()) {
      const update = anUpdate(keys(name), states[index + 1] ?? 'end');
      builder.state(name, { ...update, transitions: [dear, ...update.transitions] });
    }
    const workflow = builder.state('end', anEnd()).build();
    const options = { spec: { input: { a: JSON.parse(listOf('0', 300_000)) } } };
    const { world } = await new Arena(workflow, options, 'untimed').run();
    const alone = turnByTurn(workflow, options);
    expect(alone.status.history?.some(({ reason }) => reason === 'StatusTooLarge')).toBe(true);
    expect(world.status).toEqual(alone.status);
  });
});

describe('turns that share a status write', () => {
  const { turnsAWrite, progressMs } = engineLimits;
  const world = new World(aWorkflow('w').state('end', anEnd()).build());
  const facts = world.facts();
  const continuing: Decision = {
    kind: 'decision',
    status: { phase: 'running' },
    blobs: [],
    adopted: [],
    actions: [],
    happenings: [],
    wakeAt: 0,
  };

  const taken = (count: number): Unwritten => {
    const unwritten = new Unwritten(facts.execution, 0);
    for (let turn = 0; turn < count; turn += 1) unwritten.take(facts, continuing);
    return unwritten;
  };

  it.each([
    { before: turnsAWrite - 2, may: true },
    { before: turnsAWrite - 1, may: false },
    { before: turnsAWrite, may: false },
  ])('after $before turns one more may be taken: $may', ({ before, may }) => {
    expect(taken(before).mayTake(continuing, 0)).toBe(may);
  });

  it.each([
    { ms: progressMs - 1, may: true },
    { ms: progressMs, may: false },
    { ms: progressMs + 1, may: false },
  ])('after $ms ms one more may be taken: $may', ({ ms, may }) => {
    expect(taken(1).mayTake(continuing, ms)).toBe(may);
  });

  it.each<{ what: string; decision: Partial<Decision> }>([
    { what: 'waits for something', decision: { wakeAt: 1 } },
    { what: 'has ended', decision: { status: { phase: 'failed', finished_at: new Date(0).toISOString() } } },
    { what: 'acts', decision: { actions: [{ kind: 'archive_execution' }] } },
  ])('one that $what is written', ({ decision }) => {
    expect(taken(1).mayTake({ ...continuing, ...decision }, 0)).toBe(false);
  });

  it('none is taken after one of them could not be written', () => {
    const unwritten = taken(3);
    unwritten.drop();
    expect(unwritten.has).toBe(false);
    expect(unwritten.mayTake(continuing, 0)).toBe(false);
  });
});

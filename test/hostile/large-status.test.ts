import { describe, expect, it } from 'vitest';
import { statusProblem } from '../../controllers/execution/engine/status-problem.ts';
import { limits } from '../../crds/limits.ts';
import type { StateOf } from '../../crds/schema/state.ts';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { inlineBytes, shrink } from '../../lib/output-store/stored-value.ts';
import { anEnd, anUpdate, aQuestion, aWorkflow } from '../builders/workflow-builder.ts';
import { World } from '../builders/world.ts';

const bytesOf = ({ status }: World): number => Buffer.byteLength(JSON.stringify(status));

/**
 * The attacker writes legal workflows whose status grows beyond what the API server takes. A status that it would refuse
 * is never sent: the state fails, then the execution, and nothing is tried for ever.
 */
describe('a status that would be too large or not valid', () => {
  it.each([
    [199, 199],
    [200, 200],
    [201, 1],
    [5_000, 1],
  ])('a value with %i long strings is stored in %i parts', (count, parts) => {
    const { stored } = shrink(Array.from({ length: count }, (_, index) => `${index}${'x'.repeat(3_000)}`));
    expect(statusProblem({ phase: 'running', blackboard: { value: stored } })).toBeUndefined();
    expect(stored.refs).toHaveLength(parts);
  });

  it('a value whose parts have names of any length takes little room', () => {
    const names = Array.from({ length: 150 }, (_, index) => `${index}${'n'.repeat(60_000)}`);
    const { stored } = shrink(Object.fromEntries(names.map((name) => [name, 'x'.repeat(3_000)])));
    expect(inlineBytes(stored)).toBeLessThan(1_000);
  });

  /** The first status of an execution that leaves so many bytes for what follows. */
  const almostFull = (left: number): Partial<WorkflowExecutionStatus> => {
    const filler = { phase: 'pending', blackboard: { full: { value: '' } } } as const;
    const room = limits.statusBytes - left - Buffer.byteLength(JSON.stringify(filler));
    return { ...filler, blackboard: { full: { value: 'x'.repeat(room) } } };
  };

  it('a state that writes more keys than the status has room for fails, and its rules are followed', () => {
    const keys = Object.fromEntries(Array.from({ length: 200 }, (_, key) => [`key_${key}`, 'x'.repeat(300)]));
    const workflow = aWorkflow('w').state('many', anUpdate(keys, 'end')).state('end', anEnd()).build();
    const world = new World(workflow, { status: almostFull(10_000) }).settle();
    expect(world.status).toMatchObject({
      phase: 'completed',
      history: [{ reason: 'StatusTooLarge' }, { state: 'end' }],
    });
    expect(world.status.history?.[0]?.message).toMatch(/the status would have \d+ bytes and takes 262144/);
    expect(bytesOf(world)).toBeLessThanOrEqual(limits.statusBytes);
  });

  it('an execution whose status is full to the last byte still ends', () => {
    const workflow = aWorkflow('w')
      .state('only', anUpdate({ a: 'b' }, 'end'))
      .state('end', anEnd())
      .build();
    const world = new World(workflow, { status: almostFull(0) }).settle();
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'StatusTooLarge', finished_at: expect.any(String) });
  });
});

/** The attacker may decide, and answers a gate again and again with all that a signal may hold. */
describe('decisions of 64 KiB', () => {
  const again: StateOf<'Human'> = {
    ...aQuestion('go on?', { yes: 'end', no: 'ask' }),
    transitions: [
      { condition: 'input_equals_yes', target: 'end' },
      { condition: 'always', target: 'ask' },
    ],
    max_state_visits: 20,
  };

  it('leave in history their beginning, on the Blackboard the whole, and the rules see all of it', () => {
    const workflow = aWorkflow('w').state('ask', again).state('end', anEnd()).build();
    const world = new World(workflow).settle();
    for (let visit = 1; visit <= 12; visit += 1) {
      world.signal('ask', `${visit}${'x'.repeat(65_534)}`, { visit }).settle();
    }
    expect(world.status).toMatchObject({ phase: 'waiting', current: { visit: 13 } });
    expect(bytesOf(world)).toBeLessThan(limits.statusBytes / 4);
    expect(world.board()['ask']).toMatchObject({ response: `12${'x'.repeat(65_534)}` });
    world.signal('ask', 'yes', { visit: 13 }).settle();
    expect(world.status.phase).toBe('completed');
  });
});

import { expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import { anEnd, aQuestion, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import { prices, workLimits } from '../../../lib/work/limits.ts';

/** With one more the list is full, and the visit ends. */
const answers = limits.signals - 1;

/** Answers that match no rule, to a question whose rule is an expression: each is tested against a Blackboard of its own. */
function refusedInOneTurn(keys: number): number {
  const transitions = [{ condition: 'custom' as const, expression: 'false', target: 'end' }];
  const flow = aWorkflow('w')
    .state('ask', { ...aQuestion('Go on?', { yes: 'end', no: 'end' }), transitions })
    .state('end', anEnd())
    .build();
  const blackboard = Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, at]));
  const world = new World(flow, { spec: { blackboard } }).settle();
  for (let at = 0; at < answers; at += 1) world.signal('ask', 'maybe');
  return world.step().status.current?.signals_refused ?? 0;
}

it('AMB-170 many answers over a large Blackboard take as many turns as its copies are worth', () => {
  const room = workLimits.turn - workLimits.turnReserve;
  expect(refusedInOneTurn(1)).toBe(answers);
  for (const keys of [999, 1_000, 1_001]) {
    const most = Math.ceil(room / (keys * prices.step));
    const refused = refusedInOneTurn(keys);
    expect(refused).toBeGreaterThan(most / 2);
    expect(refused).toBeLessThanOrEqual(most);
  }
});

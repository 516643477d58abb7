import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { checkDefinition } from '../../lib/definition/check.ts';
import { anEnd, anUpdate, aWorkflow } from '../builders/workflow-builder.ts';
import { restedMsOf, turnMs } from './support/turns.ts';

/** States whose names are as long as they may be, so that a comparison takes its time. */
function manyStates(
  fields: Partial<Workflow['spec']>,
  template: (index: number) => string,
  perState: number,
): Workflow {
  const nameOf = (index: number): string => `${'state_'.repeat(9)}${index}`;
  const builder = aWorkflow('w').with(fields);
  let count = 0;
  for (let state = 0; state < 98; state += 1) {
    const env = Object.fromEntries(Array.from({ length: perState }, (_, key) => [`k${key}`, template(count++)]));
    builder.state(nameOf(state), anUpdate(env, state < 97 ? nameOf(state + 1) : 'end'));
  }
  return builder.state('end', anEnd()).build();
}

const properties = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`property_${index}`, true]));
const schema = { input_schema: { type: 'object', properties, additionalProperties: false } } as const;

const hostile: Readonly<Record<string, Workflow>> = {
  'states that are not there': manyStates({}, (index) => `{{unknown_${index}.x}}`, 30),
  'inputs that a schema of thousands does not have': manyStates(schema, (index) => `{{input.x_${index}}}`, 30),
  'helpers that are not there': manyStates({}, (index) => `{{helper${index} x}}`, 30),
  'helpers with names of 30,000 letters': manyStates({}, () => `{{${'é'.repeat(15_000)}${'_'.repeat(15_000)} x}}`, 1),
  'states with names of 30,000 letters': manyStates({}, (index) => `{{${'a'.repeat(14_000)}${index}.x}}`, 1),
};

describe('an attacker who may register definitions full of typing errors', () => {
  it.each(Object.entries(hostile))(
    'keeps the event loop for less than 100 ms of its CPU time: %s',
    { timeout: 120_000 },
    (_, { spec }) => {
      expect(checkDefinition(spec).length).toBeGreaterThan(0);
      expect(restedMsOf(() => checkDefinition(spec), turnMs)).toBeLessThan(turnMs);
    },
  );
});

describe('an author who mistypes a few names', () => {
  it('is shown what each of twenty probably means', () => {
    const longer = manyStates({}, (index) => (index < 25 ? `{{${'state_'.repeat(9)}${index}x.x}}` : 'x'), 1);
    const meant = checkDefinition(longer.spec).filter(({ message }) => message.includes('did you mean state_'));
    expect(meant).toHaveLength(20);
  });
});

import { describe, expect, it } from 'vitest';
import { validateManifest, validateSpec } from '../../crds/validators.ts';
import { readShape } from '../../api/routes/agent-pods/shapes.ts';
import { cpuMsOf, slowness } from './support/turns.ts';

const prefix = 'x'.repeat(8);
const fields = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 1]));
const numbers = (count: number): number[] => Array.from({ length: count }, () => 1e308);

const dispatch = {
  type: 'generate',
  agent_id: 'a',
  execution_id: 'e',
  iteration_number: 0,
  model_alias: '',
  prompt: '',
};

/** Bodies of about a prefix in which nearly every value breaks the schema. */
const bodies: Readonly<Record<string, () => number>> = {
  'an execution of unknown fields': () => validateSpec.WorkflowExecution(fields(60_000)).length,
  'a manifest of unknown fields': () => validateManifest(fields(60_000)).length,
  'an agent whose tools are numbers': () =>
    validateSpec.Agent({ version: '1.0.0', runtime: {}, task: {}, spec: {}, tools: numbers(90_000) }).length,
  'a request of a pod whose messages are numbers': () => {
    try {
      return readShape({ ...dispatch, messages: numbers(90_000) } as never) === undefined ? 0 : 0;
    } catch {
      return 1;
    }
  },
};

describe('an attacker whose body breaks the schema tens of thousands of times', () => {
  it.each(Object.entries(bodies))('hears of one problem, within 100 ms of CPU time: %s', (_, problemsOf) => {
    // The schema is compiled at its first use, whatever the value.
    problemsOf();
    let found = 0;
    const ms = cpuMsOf(() => (found = problemsOf()));
    expect(found).toBe(1);
    expect(ms / slowness()).toBeLessThan(100);
  });

  it('hears of each of a few', () => {
    expect(validateSpec.WorkflowExecution({ workflow: 'w', ...fields(20) })).toHaveLength(20);
  });
});

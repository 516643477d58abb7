import { describe, expect, it } from 'vitest';
import { validateManifest, validateSpec } from '../../crds/validators.ts';
import { readShape } from '../../api/routes/agent-pods/shapes.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { restedMsOf } from './support/turns.ts';

const fields = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`unknown_${index}`, 1]));
const numbers = (count: number): number[] => Array.from({ length: count }, () => 1e308);

/** Problems that a pod hears of. */
function refusedProblems(messages: readonly number[]): number {
  const ids = { agent_id: 'a', execution_id: 'e' };
  const body = { type: 'generate', ...ids, iteration_number: 0, model_alias: '', prompt: '', messages };
  try {
    readShape(body);
    return 0;
  } catch (error) {
    return error instanceof HttpError ? (error.options.details?.length ?? 0) : -1;
  }
}

/** Bodies of about a mebibyte in which nearly every value breaks the schema. */
const bodies: Readonly<Record<string, () => number>> = {
  'an execution of unknown fields': () => validateSpec.WorkflowExecution(fields(60_000)).length,
  'a manifest of unknown fields': () => validateManifest(fields(60_000)).length,
  'an agent whose tools are numbers': () =>
    validateSpec.Agent({ version: '1.0.0', runtime: {}, task: {}, spec: {}, tools: numbers(90_000) }).length,
  'a request of a pod whose messages are numbers': () => refusedProblems(numbers(90_000)),
};

describe('an attacker whose body breaks the schema tens of thousands of times', () => {
  it.each(Object.entries(bodies))('hears of one problem, within 100 ms of CPU time: %s', (_, problemsOf) => {
    // The schema is compiled at its first use, whatever the value.
    problemsOf();
    let found = 0;
    const ms = restedMsOf(() => (found = problemsOf()), 100);
    expect(found).toBe(1);
    expect(ms).toBeLessThan(100);
  });

  it('hears of each of a few', () => {
    expect(validateSpec.WorkflowExecution({ workflow: 'w', ...fields(20) })).toHaveLength(20);
  });
});

import { describe, expect, it } from 'vitest';
import { renderOutput } from './finish.ts';
import { LargeValue } from '../../../lib/template/large-value.ts';
import { createScope } from '../../../lib/template/scope.ts';
import { WorkBudgetExceeded } from '../../../lib/work/work.ts';

const scope = createScope({
  input: {},
  workflow: {},
  blackboard: {
    build: { output: { exit_code: 0, stdout: new LargeValue('ref-1', 3_000), stderr: new LargeValue('ref-2', 3_000) } },
    child: { result: { answer: 42 } },
    many: Array.from({ length: 300 }, () => 0),
  },
  execution: { id: 'e-1' },
  stateNames: ['build', 'child', 'later'],
  completedStates: ['build', 'child'],
});

describe('renderOutput', () => {
  it('WF-API-03 WF-MAN-11 renders on the final Blackboard and gives each key its type', () => {
    const outputTemplate = {
      code: '{{build.output.exit_code}}',
      result: '{{child.result}}',
      note: 'run {{execution.id}}',
    };
    const outputSchema = { type: 'object', properties: { code: { type: 'integer' }, result: { type: 'object' } } };
    expect(renderOutput({ outputTemplate, outputSchema }, scope)).toEqual({
      kind: 'output',
      output: { code: 0, result: { answer: 42 }, note: 'run e-1' },
      warnings: [],
      missing: [],
    });
  });

  it('AMB-073 keeps the placeholder of a missing key as a text, with a warning', () => {
    const result = renderOutput(
      { outputTemplate: { n: '{{later.n}}' }, outputSchema: { properties: { n: { type: 'number' } } } },
      scope,
    );
    expect(result).toMatchObject({
      output: { n: "[missing: later.n (state 'later' has not completed)]" },
      warnings: ['n is not of type number; left as text'],
      missing: ['later.n'],
    });
  });

  it('names the stored values of all keys at once', () => {
    const outputTemplate = { a: '{{build.output.stdout}}', b: '{{build.output.stderr}}', c: '{{build.output.stdout}}' };
    expect(renderOutput({ outputTemplate }, scope)).toEqual({ kind: 'needs', refs: ['ref-1', 'ref-2'] });
    const loaded = new Map([
      ['ref-1', 'out'],
      ['ref-2', '2'],
    ]);
    expect(renderOutput({ outputTemplate }, scope, loaded)).toMatchObject({ output: { a: 'out', b: 2, c: 'out' } });
  });

  it('AMB-165 gives {} for an empty template', () => {
    expect(renderOutput({ outputTemplate: {} }, scope)).toMatchObject({ output: {} });
  });

  it('counts the work of all keys together', () => {
    const loop = '{{#each blackboard.many}}{{#each @root.blackboard.many}}{{/each}}{{/each}}';
    const outputTemplate = (keys: number) =>
      Object.fromEntries(Array.from({ length: keys }, (_, key) => [`k${key}`, loop]));
    expect(renderOutput({ outputTemplate: outputTemplate(1) }, scope)).toMatchObject({ kind: 'output' });
    expect(() => renderOutput({ outputTemplate: outputTemplate(20) }, scope)).toThrow(WorkBudgetExceeded);
  });
});

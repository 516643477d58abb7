import { describe, expect, it } from 'vitest';
import { checkToolWorkflow } from './check-tool-workflow.ts';
import { toolWorkflowLimits } from './limits.ts';

const step = { name: 'fetch', operation_id: 'getThing', body_template: '{}', on_error: 'AbortWorkflow' };
const good = {
  name: 'chain',
  description: 'Chains two calls',
  input_schema: { type: 'object', properties: { id: { type: 'string' } } },
  api_spec_id: '3f1c1d1e-0000-4000-8000-000000000001',
  steps: [step],
};
const withStep = (fields: object): object => ({ ...good, steps: [{ ...step, ...fields }] });
const pathsOf = (spec: unknown): string[] => checkToolWorkflow(spec).map(({ path }) => path);

describe('checkToolWorkflow', () => {
  it('accepts a definition with everything that spec 3 §2.4 names', () => {
    const extractors = {
      id: '$.id',
      list: '$.items[*].id',
      ready: "$.data[?(@.status=='ready')].id",
      'a-b': '$..email',
    };
    const body_template =
      '{{#if input.a}}{"a":"{{input.a}}"}{{else}}{}{{/if}}{{#unless x}}{{/unless}}{{#each l}}{{/each}}{{#with w}}{{/with}}{{lookup a "b"}}';
    expect(checkToolWorkflow(withStep({ body_template, extractors, on_error: { RetryN: 3 } }))).toEqual([]);
  });

  it.each([
    ['GW-WF-35 an empty name', { ...good, name: '' }, 'name'],
    ['GW-WF-35 a name of blanks alone', { ...good, name: ' \t' }, 'name'],
    ['GW-WF-01 no name', { ...good, name: undefined }, 'name'],
    ['GW-WF-02 no description', { ...good, description: undefined }, 'description'],
    ['GW-WF-04 an id that is no UUID', { ...good, api_spec_id: 'spec' }, 'api_spec_id'],
    ['GW-WF-05 GW-WF-36 empty steps', { ...good, steps: [] }, 'steps'],
    ['GW-WF-05 no steps', { ...good, steps: undefined }, 'steps'],
    ['GW-WF-03 GW-WF-37 a schema of another type', { ...good, input_schema: { type: 'string' } }, 'input_schema.type'],
    ['GW-WF-03 no schema', { ...good, input_schema: undefined }, 'input_schema'],
    ['GW-WF-37 a wrong schema', { ...good, input_schema: { type: 'object', required: 'x' } }, 'input_schema.required'],
    ['GW-WF-06 a step without name', withStep({ name: '' }), 'steps[0].name'],
    ['GW-WF-06 two steps of one name', { ...good, steps: [step, step] }, 'steps[1].name'],
    ['a step called input', withStep({ name: 'input' }), 'steps[0].name'],
    ['a step called __proto__', withStep({ name: '__proto__' }), 'steps[0].name'],
    ['a step with a point', withStep({ name: 'a.b' }), 'steps[0].name'],
    ['GW-WF-07 no operation', withStep({ operation_id: undefined }), 'steps[0].operation_id'],
    ['GW-WF-08 no template', withStep({ body_template: undefined }), 'steps[0].body_template'],
    ['AMB-143 a template as an object', withStep({ body_template: { type: 'Program' } }), 'steps[0].body_template'],
    ['AMB-143 a template as a number', withStep({ body_template: 1 }), 'steps[0].body_template'],
    ['GW-WF-15 an unknown helper', withStep({ body_template: '{{json input}}' }), 'steps[0].body_template'],
    ['GW-WF-15 one of two arguments', withStep({ body_template: '{{json input "a"}}' }), 'steps[0].body_template'],
    [
      'GW-WF-15 one in another',
      withStep({ body_template: '{{#if (eq input.a 1)}}1{{/if}}' }),
      'steps[0].body_template',
    ],
    ['GW-WF-15 an unknown block', withStep({ body_template: '{{#raw input.a}}1{{/raw}}' }), 'steps[0].body_template'],
    ['GW-WF-09 extractors as a list', withStep({ extractors: ['$.id'] }), 'steps[0].extractors'],
    ['GW-WF-09 a script', withStep({ extractors: { x: '$[?(@.a.match(/(a+)+$/))]' } }), 'steps[0].extractors.x'],
    ['GW-WF-09 no text', withStep({ extractors: { x: 1 } }), 'steps[0].extractors.x'],
    ['GW-WF-10 no policy', withStep({ on_error: undefined }), 'steps[0].on_error'],
    ['GW-WF-10 an unknown policy', withStep({ on_error: 'Ignore' }), 'steps[0].on_error'],
    ['GW-WF-10 RetryN as a text', withStep({ on_error: 'RetryN' }), 'steps[0].on_error'],
    ['GW-WF-10 a negative n', withStep({ on_error: { RetryN: -1 } }), 'steps[0].on_error'],
    ['GW-WF-10 a broken n', withStep({ on_error: { RetryN: 1.5 } }), 'steps[0].on_error'],
    ['GW-WF-10 two keys', withStep({ on_error: { RetryN: 1, wait: 1 } }), 'steps[0].on_error'],
  ])('refuses %s', (_title, spec, path) => {
    expect(pathsOf(spec)).toEqual([path]);
  });

  it('GW-WF-04 lets an object leave out its name and name its spec, and no registration', () => {
    const object = { ...good, name: undefined, api_spec_id: undefined, api_spec: 'orders' };
    expect(checkToolWorkflow(object, { isObject: true })).toEqual([]);
    expect(pathsOf(object)).toEqual(['name', 'api_spec_id']);
  });

  it.each(['each', 'with', 'if', 'unless'])('GW-WF-15 takes two names of a block %s and no more', (block) => {
    const of = (names: string) => withStep({ body_template: `{{#${block} input.a as |${names}|}}{{/${block}}}` });
    expect(pathsOf(of('a'))).toEqual([]);
    expect(pathsOf(of('a b'))).toEqual([]);
    expect(checkToolWorkflow(of('a b c'))).toMatchObject([
      {
        path: 'steps[0].body_template',
        message: expect.stringContaining(`'${block}' has 3 names behind 'as'; it may have 2 (line 1, `) as string,
      },
    ]);
  });

  it('GW-WF-06 takes names of 63 characters and no more', () => {
    expect(pathsOf(withStep({ name: 'a'.repeat(63) }))).toEqual([]);
    expect(pathsOf(withStep({ name: 'a'.repeat(64) }))).toEqual(['steps[0].name']);
    expect(pathsOf(withStep({ extractors: { 'a.b': '$.id' } }))).toEqual(['steps[0].extractors["a.b"]']);
  });

  it('names every problem at once', () => {
    expect(pathsOf({}).toSorted()).toEqual(['api_spec_id', 'description', 'input_schema', 'name', 'steps']);
    expect(pathsOf(7)).toEqual(['']);
  });

  it('GW-WF-10 takes so many further attempts and not one more', () => {
    const most = toolWorkflowLimits.retries;
    for (const RetryN of [0, 1, most - 1, most]) expect(pathsOf(withStep({ on_error: { RetryN } }))).toEqual([]);
    expect(pathsOf(withStep({ on_error: { RetryN: most + 1 } }))).toEqual(['steps[0].on_error']);
  });

  it('takes so many steps and not one more', () => {
    const steps = (count: number): object => ({
      ...good,
      steps: Array.from({ length: count }, (_, index) => ({ ...step, name: `s${index}` })),
    });
    expect(pathsOf(steps(toolWorkflowLimits.steps))).toEqual([]);
    expect(pathsOf(steps(toolWorkflowLimits.steps + 1))).toEqual(['steps']);
  });

  it('refuses a definition that takes too much work as a whole', () => {
    const looked = new Set<number>();
    const text = '{{input.a}}'.repeat(1_500);
    const steps = Array.from({ length: 60 }, (_, index) => ({
      ...step,
      name: `s${index}`,
      get body_template() {
        looked.add(index);
        return `${text}${index}`;
      },
    }));
    expect(checkToolWorkflow({ ...good, steps })).toMatchObject([{ rule: 'too_large' }]);
    // The steps behind those that used up the work are not looked at.
    expect(looked.size).toBeLessThan(steps.length / 2);
  });
});

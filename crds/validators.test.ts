import { Ajv2020 } from 'ajv/dist/2020.js';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { oneOf } from './schema/parts.ts';
import { createValidator, problemsMax, smallValue, validateManifest, validateSpec } from './validators.ts';

const state = (fields: object): object => ({ version: '1.0.0', initial_state: 'a', states: { a: fields } });
const found = (spec: unknown): string[] =>
  validateSpec.Workflow(spec).map(({ path, message }) => `${path}: ${message}`);

describe('unions of a text and a map', () => {
  const policy = createValidator(
    Type.Object({
      mode: Type.Optional(
        Type.Union([
          oneOf(['Sequential', 'Parallel']),
          Type.Object({ Rolling: Type.Object({ batch: Type.Integer({ minimum: 1 }) }) }),
        ]),
      ),
      least: Type.Optional(Type.Array(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]))),
    }),
    ['policy'],
  );

  it.each<[object, string[]]>([
    [{ mode: null }, ['policy.mode must be one of Sequential, Parallel, or a map with Rolling, not null']],
    [{ mode: 'All' }, ['policy.mode must be one of Sequential, Parallel, or a map with Rolling, not the string "All"']],
    [
      { mode: 'paralel' },
      [
        'policy.mode must be one of Sequential, Parallel, or a map with Rolling, not the string "paralel"; did you mean Parallel?',
      ],
    ],
    [{ mode: {} }, ['policy.mode.Rolling is required']],
    [{ mode: { Rolling: { batch: 0 } } }, ['policy.mode.Rolling.batch must be at least 1, not 0']],
    [{ least: [0, null, -1] }, ['policy.least[2] must be at least 0, not -1']],
    [{ least: ['a', 1] }, ['policy.least[0] must be a whole number, or null, not the string "a"']],
    [{ mode: 'Parallel', least: [null] }, []],
  ])('%j is judged by the alternative that it is meant as', (value, want) => {
    expect(policy(value).map(({ path, message }) => `${path} ${message}`)).toEqual(want);
  });
});

describe('the validators', () => {
  const cases: Record<string, { spec: unknown; want: string[] }> = {
    'WF-STATE-01 a state of one kind is judged by the fields of that kind alone': {
      spec: state({ kind: 'Human', transitions: [] }),
      want: ['spec.states.a.prompt: is required'],
    },
    'AMB-060 an unknown field is named with the field that was meant': {
      spec: state({ kind: 'Human', promt: 'x', prompt: 'x', transitions: [] }),
      want: ['spec.states.a.promt: unknown field; did you mean prompt?'],
    },
    'WF-STATE-01 a missing kind names all kinds': {
      spec: state({ transitions: [] }),
      want: [
        'spec.states.a.kind: is required and must be one of Agent, System, Human, ParallelAgents, ContainerRun, ParallelContainerRun, Subworkflow',
      ],
    },
    'a key that is no plain word is in quotes': {
      spec: { ...state({ kind: 'System', command: 'true', transitions: [] }), output_template: { 'a.b': 1 } },
      want: ['spec.output_template["a.b"]: must be a string, not the number 1'],
    },
    'a list index differs from a key': {
      spec: state({ kind: 'System', command: 'true', transitions: [{ target: 'a' }, {}] }),
      want: ['spec.states.a.transitions[1].target: is required'],
    },
    'WF-MAN-05 a version is explained': {
      spec: { ...state({ kind: 'System', command: 'true', transitions: [] }), version: 'v1' },
      want: ['spec.version: must be a semantic version, as 1.0.0'],
    },
    'WF-MAN-05 a number of a pre-release has no leading zero': {
      spec: { ...state({ kind: 'System', command: 'true', transitions: [] }), version: '1.0.0-rc.01' },
      want: ['spec.version: must be a semantic version, as 1.0.0'],
    },
    'AMB-060 a mistyped word is named with the word that was meant': {
      spec: state({ kind: 'System', command: 'true', transitions: [{ condition: 'on_sucess', target: 'a' }] }),
      want: [
        'spec.states.a.transitions[0].condition: must be one of always, on_success, on_failure, exit_code_zero, exit_code_non_zero, exit_code, score_above, score_below, score_between, confidence_above, consensus, all_approved, any_rejected, input_equals, input_equals_yes, input_equals_no, custom; did you mean on_success?',
      ],
    },
    'a word that shares its beginning with few others is named with them': {
      spec: state({ kind: 'System', command: 'true', transitions: [{ condition: 'score_over', target: 'a' }] }),
      want: [expect.stringMatching(/, custom; did you mean score_above, score_below or score_between\?$/)],
    },
    'a value of the wrong type is mended by the message': {
      spec: state({
        kind: 'ContainerRun',
        image: 'busybox',
        command: 'echo',
        resources: { timeout: 5 },
        retry: { max_attempts: '3' },
        transitions: [],
      }),
      want: [
        'spec.states.a.command: must be a list, not the string "echo"; put its items between [ and ]',
        'spec.states.a.resources.timeout: must be a string, not the number 5; it must be a whole number above zero and s, m or h, as 300s, 5m or 1h',
        'spec.states.a.retry.max_attempts: must be a whole number, not the string "3"; leave out the quotes',
      ],
    },
    'nothing at all': {
      spec: {},
      want: ['spec.version: is required', 'spec.initial_state: is required', 'spec.states: is required'],
    },
    'a text instead of a map': { spec: 'x', want: ['spec: must be a map, not the string "x"'] },
  };
  it.each(Object.entries(cases))('%s', (_name, { spec, want }) => {
    expect(found(spec)).toEqual(want);
  });

  it('AMB-060 an unknown field is named with the only field that there is', () => {
    const agent = { version: '1.0.0', runtime: {}, task: { instruction: 'x', instructions: 'x' } };
    expect(validateSpec.Agent(agent).map(({ message }) => message)).toEqual([
      'unknown field; did you mean instruction?',
    ]);
  });

  it.each<[object, string]>([
    [{}, 'must have exactly one of Node, All'],
    [{ Node: 'a', All: null }, 'must have exactly one of Node, All'],
    [{ hosts: ['a'] }, 'unknown field; there are Node, All'],
    [{ node: 'a' }, 'unknown field; did you mean Node?'],
  ])('EDGE-RES-19 a map of one of several fields, as %j, is refused with those that there are', (target, message) => {
    const one = { additionalProperties: false, minProperties: 1, maxProperties: 1 } as const;
    const schema = Type.Object({ Node: Type.Optional(Type.String()), All: Type.Optional(Type.Null()) }, one);
    expect(createValidator(schema, ['body', 'target'])(target).map((problem) => problem.message)).toEqual([message]);
  });

  it('never change what they look at', () => {
    const spec = state({ kind: 'Human', prompt: 'x', transitions: [] });
    const before = JSON.stringify(spec);
    expect(found(spec)).toEqual([]);
    expect(JSON.stringify(spec)).toBe(before);
  });

  it('WF-MAN-15 a manifest has no scope', () => {
    const { metadata, ...rest } = {
      apiVersion: 'windlass.dev/v1',
      kind: 'Workflow',
      metadata: { name: 'a', version: '1.0.0' },
    };
    const spec = { initial_state: 'a', states: { a: { kind: 'System', command: 'true', transitions: [] } } };
    const problems = (more: object): string[] =>
      validateManifest({ ...rest, metadata: { ...metadata, ...more }, spec }).map(({ path }) => path);
    expect(problems({})).toEqual([]);
    expect(problems({ scope: 'global' })).toEqual(['metadata.scope']);
  });

  it('an execution and a volume have validators too', () => {
    expect(validateSpec.WorkflowExecution({ workflow: 'w', input: { a: null } })).toEqual([]);
    expect(validateSpec.WorkflowExecution({ input: [] }).map(({ path }) => path)).toEqual([
      'spec.workflow',
      'spec.input',
    ]);
    expect(validateSpec.Volume({ storage_class: 'fast' }).map(({ rule }) => rule)).toEqual(['enum']);
  });
});

describe('the problems of one value', () => {
  const validate = createValidator(
    Type.Object({ items: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })) }, { additionalProperties: false }),
    ['body'],
  );
  const unknown = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, key) => [`k${key}`, 1]));

  it.each([
    [problemsMax - 1, problemsMax - 1],
    [problemsMax, problemsMax],
    [problemsMax + 1, problemsMax],
    [smallValue, problemsMax],
    [smallValue + 1, 1],
  ])('of %i unknown fields are %i', (count, want) => {
    expect(validate(unknown(count))).toHaveLength(want);
  });

  it('of a list that is too long is its length, not its items', () => {
    expect(validate({ items: Array.from({ length: smallValue }, () => 1e308) }).map(({ message }) => message)).toEqual([
      'must have at most 3 items',
    ]);
  });
});

describe('the schemas that are compiled without a look at their own form', () => {
  const judge = new Ajv2020({ strict: true, discriminator: true, logger: false });

  it.each(Object.entries({ ...validateSpec, validateManifest }))('%s is valid JSON Schema', (_kind, { jsonSchema }) => {
    expect([judge.validateSchema(jsonSchema()), judge.errors]).toEqual([true, null]);
  });

  it('are refused where they are not', () => {
    expect(judge.validateSchema({ type: 'text' })).toBe(false);
  });
});

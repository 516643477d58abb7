import { describe, expect, it } from 'vitest';
import { annotations, globalNamespace, labels } from '../../../../crds/labels.ts';
import type { Workflow } from '../../../../crds/schema/workflow.ts';
import { objectName, userObjectName } from '../../../../lib/manifest/object-name.ts';
import { anEnd, aWorkflow } from '../../../../test/builders/workflow-builder.ts';
import { assertInput, assertReady, executionOf, type StartBody } from './plan-start.ts';

const uid = '0d1f6b7e-8a53-4c55-9d64-2f3a1b5c7e90';
const by = { name: 'hello-1', namespace: 'team', subject: 'ada' };

interface Fields {
  readonly ready?: 'True' | 'False';
  /** Generation that was judged; that of the object is 2. */
  readonly judged?: number;
  readonly versions?: readonly string[];
  readonly metadata?: Partial<Workflow['metadata']>;
}

function stored({ ready, judged = 2, versions = [], metadata }: Fields = {}): Workflow {
  const workflow = aWorkflow('hello').with({ version: '2.0.0' }).state('end', anEnd()).build();
  const lastTransitionTime = '2026-01-02T03:04:05Z';
  const condition = { type: 'Ready', reason: 'InvalidDefinition', message: 'spec.x is wrong', lastTransitionTime };
  return {
    ...workflow,
    metadata: { ...workflow.metadata, namespace: 'team', uid, generation: 2, ...metadata },
    status: {
      conditions: ready === undefined ? [] : [{ ...condition, status: ready, observedGeneration: judged }],
      versions: versions.map((version) => ({
        version,
        revision: `hello-${version}`,
        registered_at: lastTransitionTime,
      })),
    },
  };
}

describe('whether a workflow may start', () => {
  it.each<[title: string, fields: Fields, version: string | undefined, isRefused: boolean]>([
    ['is accepted', { ready: 'True' }, undefined, false],
    ['has not been judged', {}, undefined, false],
    ['was refused', { ready: 'False' }, undefined, true],
    ['was refused in an earlier form', { ready: 'False', judged: 1 }, undefined, false],
    ['was refused, of which a stored version is wanted', { ready: 'False', versions: ['1.0.0'] }, '1.0.0', false],
    ['was refused, of which its newest version is wanted', { ready: 'False', versions: ['1.0.0'] }, '2.0.0', true],
  ])('one that %s', (_title, fields, version, isRefused) => {
    const check = () => assertReady(stored(fields), version);
    if (!isRefused) return check();
    const options = {
      status: 422,
      error: 'workflow_not_ready',
      message: 'workflow hello cannot run: InvalidDefinition: spec.x is wrong',
    };
    expect(check).toThrow(expect.objectContaining({ options: expect.objectContaining(options) }));
    return undefined;
  });
});

describe('the input', () => {
  const schema = {
    type: 'object',
    required: ['n'],
    properties: {
      n: { type: 'integer' },
      list: { type: 'array', items: { type: 'string' } },
      'a b': { type: 'string' },
    },
  };
  const problems = (input: Record<string, never> | object | undefined): readonly string[] => {
    try {
      assertInput({ ...stored().spec, input_schema: schema } as never, input as never);
    } catch (error) {
      return (error as { options: { details: { path: string }[] } }).options.details.map(({ path }) => path);
    }
    return [];
  };

  it.each<[title: string, input: object | undefined, want: string[]]>([
    ['fits', { n: 1 }, []],
    ['is absent, and must not be', undefined, ['input.n']],
    [
      'is of the wrong type here and there',
      { n: 'x', list: ['a', 1], 'a b': 2 },
      ['input.n', 'input.list[1]', 'input["a b"]'],
    ],
  ])('WF-API-09 AMB-056 that %s', (_title, input, want) => {
    expect(problems(input).toSorted()).toEqual(want.toSorted());
  });

  it('WF-API-10 may be anything without a schema', () => {
    expect(() => assertInput(stored().spec, { anything: [null] })).not.toThrow();
  });
});

describe('the object that is created', () => {
  it('carries who asked for it, and the workflow it is of', () => {
    expect(
      executionOf(stored({ ready: 'True' }), { workflow: 'hello', input: { a: 1 } }, { ...by, request: 'h' }),
    ).toEqual({
      apiVersion: 'windlass.dev/v1',
      kind: 'WorkflowExecution',
      metadata: {
        name: 'hello-1',
        namespace: 'team',
        labels: { [labels.workflow]: 'hello', [labels.workflowUid]: uid },
        annotations: { [annotations.startedBy]: 'ada', [annotations.request]: 'h' },
      },
      spec: { workflow: 'hello', version: '2.0.0', input: { a: 1 } },
    });
  });

  it.each<[string, unknown, unknown]>([
    ['text', 'hello', { input: 'hello' }],
    ['a number', 7, { input: 7 }],
    ['a list', [1], { input: [1] }],
    ['null', null, { input: null }],
    ['false', false, { input: false }],
    ['an object', { a: 1 }, { a: 1 }],
  ])('AMB-175 has an input that is an object, also of %s', (_what, payload, want) => {
    const body = { workflow: 'hello', input: payload } as StartBody;
    expect(executionOf(stored({ ready: 'True' }), body, by).spec.input).toEqual(want);
    expect(() => assertInput(stored().spec, body.input)).not.toThrow();
  });

  type Schema = NonNullable<ReturnType<typeof stored>['spec']['input_schema']>;
  const properties = { n: { type: 'integer' } };

  it.each<[takes: string, schema: Schema]>([
    ['no field but its own', { type: 'object', properties, additionalProperties: false }],
    ['its own fields only with one of them', { type: 'object', properties, required: ['n'] }],
    ['a field of that name as text only', { type: 'object', properties: { input: { type: 'string' } } }],
  ])('AMB-175 is refused where the schema takes %s', (_takes, schema) => {
    expect(() => assertInput({ ...stored().spec, input_schema: schema }, 7)).toThrow(/^input\b/);
  });

  it('WF-API-09 is refused by a message that names the first place that does not fit', () => {
    const schema = { type: 'object', properties, required: ['n'] };
    const refused = { error: 'input validation failed', message: 'input.n is required' };
    expect(() => assertInput({ ...stored().spec, input_schema: schema }, {})).toThrow(
      expect.objectContaining({ options: expect.objectContaining(refused) as object }) as Error,
    );
  });

  it('AMB-175 is taken where the schema takes fields that it does not name', () => {
    const schema = { type: 'object', properties };
    expect(() => assertInput({ ...stored().spec, input_schema: schema }, 7)).not.toThrow();
  });

  it('has a label that Kubernetes takes, however long the name of its workflow', () => {
    const { metadata } = executionOf(stored({ metadata: { name: `${'a'.repeat(80)}.b` } }), { workflow: uid }, by);
    expect(metadata.labels?.[labels.workflow]).toMatch(/^a{52}-[0-9a-f]{10}$/);
  });

  it('does not keep its name in its spec', () => {
    const { spec } = executionOf(stored(), { workflow: 'hello', name: 'mine' }, { ...by, name: 'mine' });
    expect(spec).not.toHaveProperty('name');
  });

  it.each<[title: string, fields: Fields, asked: string, want: string]>([
    ['the name, for one of the tenant', {}, 'hello', 'hello'],
    ['the name, for a global one', { metadata: { namespace: globalNamespace } }, 'hello', 'hello'],
    [
      'the id, for one that only the caller has',
      {
        metadata: {
          name: userObjectName('a', 'hello'),
          labels: { [labels.user]: 'a' },
          annotations: { [annotations.name]: 'hello' },
        },
      },
      'hello',
      uid,
    ],
    ['the id, where that was asked for', {}, uid, uid],
    ['the present id, where a former one was asked for', {}, uid.replace('0d', 'ff'), uid],
    [
      'the name of the manifest, where that is no object name',
      { metadata: { name: objectName('hello-'), annotations: { [annotations.name]: 'hello-' } } },
      'hello-',
      'hello-',
    ],
  ])('refers to its workflow by %s', (_title, fields, asked, want) => {
    expect(executionOf(stored(fields), { workflow: asked }, by).spec.workflow).toBe(want);
  });

  it.each<[title: string, fields: Fields, version: string | undefined, want: string | undefined]>([
    ['the one that was asked for', { ready: 'True', versions: ['2.0.0', '1.0.0'] }, '1.0.0', '1.0.0'],
    ['the newest', { ready: 'True', versions: ['2.0.0'] }, undefined, '2.0.0'],
    ['the newest, although it has not been judged', { versions: ['1.0.0'] }, undefined, '2.0.0'],
    ['none, while other content of that number is stored', { versions: ['2.0.0'] }, undefined, undefined],
  ])('names as version %s', (_title, fields, version, want) => {
    const body = { workflow: 'hello', ...(version === undefined ? {} : { version }) };
    expect(executionOf(stored(fields), body, by).spec.version).toBe(want);
  });
});

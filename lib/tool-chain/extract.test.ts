import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extract } from './extract.ts';
import { searchLimits, toolWorkflowLimits } from './limits.ts';
import { growthOf, proportional } from '../../test/support/processor-time.ts';
import { ExtractorError, parseExtractor } from './parse-extractor.ts';
import { StepFailure } from './step-failure.ts';

const body = {
  id: 7,
  nothing: null,
  data: {
    id: 'x',
    'app.io/name': 'dotted',
    list: [
      { status: 'new', id: 1 },
      { status: 'ready', id: 2, at: { n: 5 } },
    ],
  },
  items: [
    { name: 'first', id: 11 },
    { name: 'second', id: 12, email: 'a@b.example' },
  ],
};
const jobs = {
  data: [
    { status: 'new', id: 1 },
    { status: 'ready', id: 2 },
    { status: 'ready', id: 3 },
  ],
};

describe('extract', () => {
  it.each([
    ['GW-WF-17', '$.id', body, 7],
    ['GW-WF-18', '$.data.id', body, 'x'],
    ['GW-WF-19', '$.items[0].name', body, 'first'],
    ['GW-WF-20', '$.items[*].id', body, 11],
    ['GW-WF-21', '$..email', body, 'a@b.example'],
    ['GW-WF-22', "$.data[?(@.status=='ready')].id", jobs, 2],
    ['GW-WF-23', '$.items', body, body.items],
    ['GW-WF-23', '$.data.list', body, body.data.list],
    ['GW-WF-17', '$.nothing', body, null],
    ['GW-WF-17', '$', body, body],
    ['GW-WF-17', '$', 0, 0],
    ['GW-WF-18', "$['data']['app.io/name']", body, 'dotted'],
    ['GW-WF-18', '$.data["id"]', body, 'x'],
    ['GW-WF-19', '$[1]', ['a', 'b'], 'b'],
    ['GW-WF-20', '$.*', { a: 1, b: 2 }, 1],
    ['GW-WF-21', '$..list[0].id', body, 1],
    ['GW-WF-21', '$..[1].name', body, 'second'],
    ['GW-WF-22', '$.data[?(@.id>=3)].id', jobs, 3],
    ['GW-WF-22', "$.data[?(@.id < 3 && @.status != 'new')].id", jobs, 2],
    ['GW-WF-22', "$.data[?(@.id == 9 || @.status === 'ready')].id", jobs, 2],
    ['GW-WF-22', '$.data.list[?(@.at.n==5)].id', body, 2],
    ['GW-WF-22', '$.data.list[?(@.at)].id', body, 2],
    ['GW-WF-22', '$[?(@ > 1)]', [1, 2, 3], 2],
    ['GW-WF-22', "$[?(@['a'][0]==true)].b", [{ a: [false] }, { a: [true], b: 'c' }], 'c'],
  ])('%s gives the first match of %s', (_id, expression, from, want) => {
    expect(extract(expression, from)).toEqual({ value: want });
  });

  it.each(['$.none', '$.id.deeper', '$.items[9]', '$.data[?(@.status)].id', '$..nowhere', '$.items[*].none'])(
    'finds nothing at %s',
    (expression) => expect(extract(expression, body)).toBeUndefined(),
  );

  it.each([
    'a b',
    '@odata.nextLink',
    'a:b',
    'a;b',
    '$ref',
    '$',
    '*',
    '..',
    '~^',
    '?(0)',
    '#1',
    "it's",
    '"',
    'x\\y',
    '`a',
    '',
  ])('GW-WF-18 reads the member %j by its quoted name, wherever a name may be', (name) => {
    const quoted = `['${name.replaceAll(/(['\\])/g, '\\$1')}']`;
    const decoys = { a: 0, b: 0, length: 0 };
    expect(extract(`$${quoted}`, { ...decoys, [name]: 1 })).toEqual({ value: 1 });
    expect(extract(`$.x${quoted}.y`, { x: { ...decoys, [name]: { y: 2 } } })).toEqual({ value: 2 });
    expect(extract(`$..${quoted}`, { x: [decoys, { [name]: 3 }] })).toEqual({ value: 3 });
    expect(extract(`$[?(@${quoted}==4)].a`, [decoys, { [name]: 4, a: 5 }])).toEqual({ value: name === 'a' ? 4 : 5 });
  });

  it.each<[string, unknown, unknown]>([
    ['$.rows[*]', { rows: [['a', 'b'], ['c']] }, ['a', 'b']],
    ['$..tags', { x: { tags: ['a'] }, tags: [] }, []],
    ['$..id', { x: { id: 1 }, id: { id: 2 } }, { id: 2 }],
    ['$.rows[?(@.ok==true)]', { rows: [{ ok: false }, { ok: true, n: [1] }] }, { ok: true, n: [1] }],
    ['$.map.*', { map: { a: { b: 1 }, c: 2 } }, { b: 1 }],
  ])('GW-WF-23 gives the list or the object that %s matches first, as a whole', (expression, from, want) => {
    expect(extract(expression, from)).toEqual({ value: want });
  });

  it('GW-WF-19 an index is of a list and a name of an object', () => {
    expect(extract('$.list.length', { list: [1, 2] })).toBeUndefined();
    expect(extract("$.list['0']", { list: [1, 2] })).toBeUndefined();
    expect(extract('$.map[0]', { map: { 0: 'a' } })).toBeUndefined();
    expect(extract('$..length', { list: [1, 2], file: { length: 7 } })).toEqual({ value: 7 });
    expect(extract('$.a.b', { a: { '`b': 9, b: 1 } })).toEqual({ value: 1 });
  });

  it.each(['$.__proto__', '$.constructor', '$.toString', "$['__proto__']", '$..constructor', '$.items.constructor'])(
    'GW-WF-09 reads nothing of a prototype at %s',
    (expression) => expect(extract(expression, body)).toBeUndefined(),
  );

  it('gives the own members of those names', () => {
    expect(extract('$.constructor', { constructor: 1 })).toEqual({ value: 1 });
  });

  it('compares without converting, and what is absent equals nothing', () => {
    expect(extract('$[?(@.a==1)].b', [{ a: '1', b: 2 }])).toBeUndefined();
    expect(extract("$[?(@.a<'b')].b", [{ a: 1, b: 2 }])).toBeUndefined();
    expect(extract('$[?(@.a==null)].b', [{ b: 2 }, { a: null, b: 3 }])).toEqual({ value: 3 });
    expect(extract('$[?(@.a!=1)].b', [{ b: 2 }])).toEqual({ value: 2 });
  });

  it.each([
    '',
    'id',
    '.id',
    '$id',
    '$.',
    '$..',
    '$[',
    '$[]',
    '$.a b',
    '$.a[1:3]',
    '$.a[-1]',
    '$.a[0,1]',
    "$['a','b']",
    '$.a^',
    '$.a~',
    '$.a.@string()',
    '$..a..b',
    '$[(@.length-1)]',
    '$[?(@.a.match(/(a+)+$/))]',
    "$[?(@.constructor.constructor('return process')())]",
    '$[?(@.a=1)]',
    '$[?(@.a==@.b)]',
    '$[?(@.a==$.b)]',
    '$[?(1==1)]',
    '$[?(!@.a)]',
    '$[?((@.a))]',
    '$[?(@.a==1;@.b)]',
    '$[?(@property=="a")]',
    '$[?(@.a==1)',
    '$[?(@.a=="x)]',
    '$[?(@.a in b)]',
    '$[?(@.a==`b`)]',
    '$.a\u0000',
    "$['a\nb']",
    '$[?(@.a==1e999)]',
    '$[?(@.a==01)]',
  ])('GW-WF-09 refuses %j, which is neither a path nor a comparison', (expression) => {
    expect(() => extract(expression, body)).toThrow(ExtractorError);
  });

  it('takes the limits and not one more', () => {
    const { segments, extractorLength, manySegments } = toolWorkflowLimits;
    expect(extract(`$${'.a'.repeat(segments)}`, {})).toBeUndefined();
    expect(() => extract(`$${'.a'.repeat(segments + 1)}`, {})).toThrow(ExtractorError);
    expect(extract(`$${'[*]'.repeat(manySegments)}`, {})).toBeUndefined();
    expect(() => extract(`$${'[*]'.repeat(manySegments + 1)}`, {})).toThrow(ExtractorError);
    expect(extract(`$.${'a'.repeat(extractorLength - 2)}`, {})).toBeUndefined();
    expect(() => extract(`$.${'a'.repeat(extractorLength - 1)}`, {})).toThrow(ExtractorError);
  });

  it.each([
    ['$[*].none', 0],
    ['$.*.none', 0],
    ['$..none', 0],
    ['$[?(@.a.b==1)].none', 3],
    [
      `$[?(${Array(8)
        .fill(`@${'.a'.repeat(20)}==1`)
        .join('||')})]`,
      8 * 21,
    ],
  ])('AMB-126 tests as many values as the work of one search allows, and not one more: %s', (expression, names) => {
    const most = Math.floor(searchLimits.work / (searchLimits.test + names));
    const list = (count: number) => Array.from({ length: count }, () => 0);
    expect(extract(expression, list(most))).toBeUndefined();
    expect(() => extract(expression, list(most + 1))).toThrow(StepFailure);
    expect(() => extract(expression, list(most + 1))).toThrow(
      `the search takes more than ${searchLimits.work} units of work, too many to search with *, .. or a filter`,
    );
  });

  it('looks at no value beyond the work of one search, and needs none after the first match', () => {
    let reads = 0;
    const item = Object.defineProperty({}, 'a', { enumerable: true, get: () => (reads += 1) });
    const list = Array.from({ length: 25_000 }, () => item);
    const comparison = `@.a${'.b'.repeat(27)}==1`;
    const expression = `$[?(${Array(8).fill(comparison).join('||')})]`;
    expect(() => extract(expression, list)).toThrow(StepFailure);
    expect(reads).toBeLessThanOrEqual(searchLimits.work / 28);
    expect(extract('$[*]', list)).toEqual({ value: item });
  });

  it.each(['[?(@.a==1)]', "['a", '..', '[?(', '[a', '@', "\\'", ' ', '[?(@.a=="\\"'])(
    'refuses an expression of many %j in time in proportion to its length',
    async (piece) => {
      expect(() => extract(`$${piece.repeat(200)}`, body)).toThrow(ExtractorError);
      let attempt = 0;
      const refused = (count: number): void => {
        for (let index = 0; index < 50; index += 1) {
          attempt += 1;
          // No expression is remembered.
          expect(() => parseExtractor(`$${piece.repeat(count)}${attempt}`)).toThrow(ExtractorError);
        }
      };
      expect(await growthOf(8, refused)).toBeLessThan(proportional);
    },
  );

  it('keeps no expression for ever', () => {
    for (let index = 0; index < 5_000; index += 1)
      expect(extract(`$..a${index}`, { [`a${index}`]: index })).toEqual({ value: index });
  });

  it('GW-WF-19 GW-WF-20 GW-WF-21 finds what a walk in the order of RFC 9535 finds first, in any document', () => {
    const word = fc.constantFrom('a', 'b', 'length', '*', '@c', '0', '`');
    const leaf = fc.constantFrom<unknown>(1, 'x', null, true);
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(word, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    const step = fc.oneof(
      word.map((name): Step => ({ text: `['${name}']`, key: name })),
      fc.nat(2).map((index): Step => ({ text: `[${index}]`, key: index })),
      fc.constant<Step>({ text: '[*]' }),
    );
    const path = fc.record({
      before: fc.array(step, { maxLength: 1 }),
      deep: fc.boolean(),
      after: fc.array(step, { minLength: 1, maxLength: 2 }),
    });
    fc.assert(
      fc.property(tree, path, (document, { before, deep, after }) => {
        const text = ['$', ...before.map((one) => one.text), deep ? '..' : '', ...after.map((one) => one.text)].join(
          '',
        );
        const starts = walk(before, [document]).map(({ value }) => value);
        const [first] = walk(after, deep ? starts.flatMap(withDescendants) : starts);
        expect(extract(text, document)).toEqual(first === undefined ? undefined : { value: first.value });
      }),
      { numRuns: 2_000 },
    );
  });
});

interface Step {
  readonly text: string;
  /** Absent for every child. */
  readonly key?: string | number;
}

/** Children by their name or index. */
const childrenOf = (value: unknown): [string | number, unknown][] => {
  if (Array.isArray(value)) return value.map((child, index) => [index, child]);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
};

const withDescendants = (value: unknown): unknown[] => [
  value,
  ...childrenOf(value).flatMap(([, child]) => withDescendants(child)),
];

const walk = (steps: readonly Step[], from: readonly unknown[]): { readonly value: unknown }[] =>
  steps
    .reduce<unknown[]>(
      (values, { key }) =>
        values.flatMap((value) =>
          childrenOf(value).flatMap(([name, child]) => (key === undefined || key === name ? [child] : [])),
        ),
      [...from],
    )
    .map((value) => ({ value }));

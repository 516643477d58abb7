import fc from 'fast-check';
import Handlebars from 'handlebars';
import { describe, expect, it } from 'vitest';
import { rounds } from '../../test/support/rounds.ts';
import { reservedStateNames } from '../../crds/reserved-names.ts';
import { LargeValue } from './large-value.ts';
import { limits } from '../../crds/limits.ts';
import { NestedTooDeep } from '../nesting.ts';
import { prices, workLimits } from '../work/limits.ts';
import { Work, WorkBudgetExceeded } from '../work/work.ts';
import { templateLimits } from './limits.ts';
import { render } from './render.ts';
import { parseTemplate } from './parse.ts';
import { createScope, type ScopeFacts } from './scope.ts';

const blackboard = {
  build: {
    status: 'success',
    output: { stdout: 'ok\nsecond', stderr: '', exit_code: 0, duration_ms: 12 },
    stdout: 'ok\nsecond',
    exit_code: 0,
  },
  tests: { output: { 'unit-1': { stdout: 'green', stderr: 'w', exit_code: 3 } } },
  'write-it': { status: 'success', output: 'final text', score: 0.5, iterations: 2 },
  judges: {
    consensus: { score: 0.75, confidence: 0.9 },
    agents: [{ output: '{"score":0.8,"reasoning":"fine","tags":["a"]}' }, { output: 'not json' }],
  },
  child: { status: 'success', result: { answer: 42 }, child_execution_id: 'c-1' },
  team: 'blue',
  list: ['a', 'b'],
};

function scope(facts: Partial<ScopeFacts> = {}) {
  return createScope({
    intent: 'ship it',
    input: { name: 'Ada', n: 0, no: false, nothing: null, html: `<a href="x">&'</a>`, deep: { list: [1, { k: 'v' }] } },
    workflow: { context: { name: 'constant' }, storage: { workspace: 'vol-ws', shared_volumes: { cache: 'vol-c' } } },
    blackboard,
    state: { feedback: 'try harder' },
    human: { feedback: 'approved' },
    execution: { id: 'e-1' },
    stateNames: ['build', 'tests', 'write-it', 'judges', 'child', 'later', 'team'],
    completedStates: ['build', 'tests', 'write-it', 'judges', 'child'],
    ...facts,
  });
}

function orRefused(run: () => string): string {
  try {
    return run();
  } catch {
    return 'refused';
  }
}

function text(source: string, facts: Partial<ScopeFacts> = {}): string {
  const result = render(source, scope(facts));
  if (result.kind === 'needs') throw new Error(`needs ${result.refs.join()}`);
  return result.text;
}

describe('variables', () => {
  it.each([
    ['WF-TPL-02', '{{intent}}', 'ship it'],
    ['WF-TPL-03', '{{input.name}}', 'Ada'],
    ['WF-TPL-04 WF-MAN-14', '{{workflow.context.name}}', 'constant'],
    ['the id of the workspace', '{{workflow.storage.workspace}}', 'vol-ws'],
    ['the id of a shared volume', '{{workflow.storage.shared_volumes.cache}}', 'vol-c'],
    ['WF-TPL-07', '{{write-it.output}}', 'final text'],
    ['WF-TPL-08', '{{build.output.stdout}}|{{build.output.stderr}}|{{build.output.exit_code}}', 'ok\nsecond||0'],
    ['AMB-005', '{{build.stdout}}|{{build.exit_code}}', 'ok\nsecond|0'],
    ['WF-TPL-09', '{{build.output.duration_ms}}', '12'],
    ['WF-TPL-10', '{{tests.output.unit-1.stdout}} {{tests.output.unit-1.exit_code}}', 'green 3'],
    ['WF-TPL-11', '{{build.status}}', 'success'],
    ['WF-TPL-12', '{{write-it.score}}', '0.5'],
    ['WF-TPL-13', '{{judges.consensus.score}}', '0.75'],
    ['WF-TPL-14', '{{judges.consensus.confidence}}', '0.9'],
    ['WF-TPL-15', '{{judges.agents.1.output}}', 'not json'],
    ['WF-TPL-15 as the last segment', '{{json blackboard.list.1}}', '"b"'],
    ['WF-TPL-16', '{{judges.agents.0.output.reasoning}} {{judges.agents.0.output.tags.0}}', 'fine a'],
    ['WF-TPL-17', '{{child.result}} {{child.result.answer}}', '{"answer":42} 42'],
    ['WF-TPL-18', '{{child.child_execution_id}}', 'c-1'],
    ['WF-TPL-19', '{{blackboard.team}} {{blackboard.build.status}}', 'blue success'],
    ['WF-TPL-20', '{{state.feedback}}', 'try harder'],
    ['WF-TPL-21 WF-HUMAN-05', '{{human.feedback}}', 'approved'],
    ['WF-TPL-22', '{{execution.id}}', 'e-1'],
  ])('%s renders %s', (_id, source, want) => {
    expect(text(source)).toBe(want);
  });

  it('WF-MAN-14 input, context and Blackboard are namespaces of their own', () => {
    expect(text('{{input.team}}')).toBe('[missing: input.team]');
    expect(text('{{workflow.context.team}}')).toBe('[missing: workflow.context.team]');
    expect(text('{{list}}')).toBe('[missing: list]');
  });

  it('AMB-156 prints null as nothing, objects and lists as compact JSON, numbers and booleans as such', () => {
    expect(text('{{input.nothing}}|{{input.deep}}|{{blackboard.list}}|{{input.n}}|{{input.no}}')).toBe(
      '|{"list":[1,{"k":"v"}]}|["a","b"]|0|false',
    );
  });

  it('AMB-020 escapes nothing', () => {
    const raw = `<a href="x">&'</a>`;
    expect(text('{{input.html}}{{{input.html}}}{{&input.html}}')).toBe(raw.repeat(3));
  });

  it('renders text that comes out of data as it is, never a second time', () => {
    const input = { evil: '{{intent}} {{#each x}}', key: '{{execution.id}}' };
    expect(text('{{input.evil}}|{{upper input.key}}|{{default input.nope input.key}}', { input })).toBe(
      '{{intent}} {{#each x}}|{{EXECUTION.ID}}|{{execution.id}}',
    );
  });
});

describe('placeholders', () => {
  it.each([
    ['{{later.output.stdout}}', "[missing: later.output.stdout (state 'later' has not completed)]"],
    ['{{later}}', "[missing: later (state 'later' has not completed)]"],
    ['{{later.agents.0.output}}', "[missing: later.agents.0.output (state 'later' has not completed)]"],
    ['{{build.output.nope}}', '[missing: build.output.nope]'],
    ['{{blackboard.nope}}', '[missing: blackboard.nope]'],
    ['{{later.[a b].c}}', "[missing: later.[a b].c (state 'later' has not completed)]"],
    ['{{blackboard.0.[a b].1}}', '[missing: blackboard.0.[a b].1]'],
    ['x{{! [ }}\n\r\n{{trim\r  @root.blackboard.[no.pe]}}', 'x\n\r\n[missing: @root.blackboard.[no.pe]]'],
    ['\\{{[a]}} {{blackboard.[no pe]}}', '{{[a]}} [missing: blackboard.[no pe]]'],
    ['{{unheard.of}}', '[missing: unheard.of]'],
    ['{{judges.agents.1.output.score}}', '[missing: judges.agents.1.output.score]'],
    ['{{judges.agents.9.output}}', '[missing: judges.agents.9.output]'],
    ['{{upper later.output}}', "[missing: later.output (state 'later' has not completed)]"],
    ['{{length input.nope}}', '[missing: input.nope]'],
    ['{{#each blackboard.list}}{{nope}}{{/each}}', '[missing: nope][missing: nope]'],
  ])('WF-TPL-31 AMB-072 %s renders %s', (source, want) => {
    expect(text(source)).toBe(want);
  });

  it('WF-TPL-31 lists each missing path once and renders the rest', () => {
    const result = render('a{{later.x}}b{{later.x}}c{{input.q}}{{#if input.w}}{{/if}}{{default input.z "d"}}', scope());
    expect(result).toMatchObject({ missing: ['later.x', 'input.q'] });
  });

  it('reaches nothing through prototypes', () => {
    for (const path of [
      'input.constructor',
      'input.__proto__',
      'input.toString',
      'input.deep.list.map',
      'intent.length',
      'constructor',
      '__proto__.x',
      'blackboard.hasOwnProperty',
      'input.deep.list.constructor.constructor',
    ]) {
      expect(text(`{{${path}}}`)).toBe(`[missing: ${path}]`);
    }
    expect(text('{{input.deep.list.length}}')).toBe('2');
  });

  it('takes own keys that look like prototypes for data', () => {
    const input = JSON.parse('{"__proto__":{"x":1},"constructor":"c"}') as unknown;
    expect(text('{{input.__proto__.x}} {{input.constructor}} {{input}}', { input })).toBe(
      '1 c {"__proto__":{"x":1},"constructor":"c"}',
    );
  });
});

describe('helpers', () => {
  it.each([
    ['WF-TPL-23 code points', '{{length input.s}}', '3'],
    ['WF-TPL-23 items', '{{length blackboard.list}}', '2'],
    ['WF-TPL-23 keys', '{{length input}}', '4'],
    ['WF-TPL-23 nothing', '{{length input.e}}', '0'],
    ['WF-TPL-24', '{{upper input.s}}', 'ÄÖ😀'],
    ['WF-TPL-25', '{{lower "ÄbC"}}', 'äbc'],
    ['WF-TPL-26', '[{{trim "  a b \n"}}]', '[a b]'],
    ['WF-TPL-27 pretty-prints', '{{json input.o}}', '{\n  "a": [\n    1\n  ]\n}'],
    ['WF-TPL-27 quotes a text', '{{json input.s}}', '"äö😀"'],
    ['WF-TPL-28', '{{first_line build.output.stdout}}', 'ok'],
    ['WF-TPL-28 with CRLF', '{{first_line "a\r\nb"}}', 'a'],
    ['WF-TPL-28 without an end', '{{first_line "a"}}', 'a'],
    ['WF-TPL-29 value', '{{default input.s "f"}}', 'äö😀'],
    ['WF-TPL-29 missing', '{{default input.nope "f"}}', 'f'],
    ['WF-TPL-29 empty', '{{default input.e "f"}}', 'f'],
    ['WF-TPL-29 of a state to come', '{{default later.output "none yet"}}', 'none yet'],
    ['AMB-074 zero', '{{default input.zero "f"}}', '0'],
    ['AMB-074 false', '{{default input.no "f"}}', 'false'],
    ['AMB-074 null', '{{default input.nil "f"}}', 'f'],
    ['nested calls', '{{upper (default input.nope (trim " x "))}}', 'X'],
    ['a helper on a number', '{{upper input.zero}}{{length input.zero}}', '01'],
  ])('%s: %s', (_name, source, want) => {
    // `input` has the keys s, e, o and one of zero, no, nil, so that its length says something.
    const extra = /input\.(zero|no|nil)\b/.exec(source)?.[1] ?? 'nil';
    const values: Record<string, unknown> = { zero: 0, no: false, nil: null };
    const input = { s: 'äö😀', e: '', o: { a: [1] }, [extra]: values[extra] };
    expect(text(source, { input })).toBe(want);
  });

  it('AMB-061 keeps every name that a template takes for something else from states', () => {
    expect(reservedStateNames).toEqual(
      expect.arrayContaining(['intent', 'input', 'workflow', 'blackboard', 'state', 'human', 'execution']),
    );
    expect(reservedStateNames).toEqual(
      expect.arrayContaining([
        'length',
        'upper',
        'lower',
        'trim',
        'json',
        'first_line',
        'default',
        'if',
        'each',
        'else',
      ]),
    );
    expect(reservedStateNames).toEqual(expect.arrayContaining(['__proto__', 'constructor', 'prototype']));
  });
});

describe('blocks', () => {
  it.each([
    ['{{#if input.a}}yes{{else}}no{{/if}}', { a: 'x' }, 'yes'],
    ['{{#if input.a}}yes{{else}}no{{/if}}', { a: '' }, 'no'],
    ['{{#if input.a}}yes{{else}}no{{/if}}', { a: 0 }, 'no'],
    ['{{#if input.a}}yes{{else}}no{{/if}}', { a: [] }, 'no'],
    ['{{#if input.a}}yes{{else}}no{{/if}}', { a: {} }, 'yes'],
    ['{{#if input.a}}yes{{else}}no{{/if}}', {}, 'no'],
    ['{{#if input.a}}a{{else if input.b}}b{{else}}c{{/if}}', { b: true }, 'b'],
    [
      '{{#each input.a}}{{@index}}{{@key}}{{this}}{{#if @first}}F{{/if}}{{#if @last}}L{{/if}};{{/each}}',
      { a: ['x', 'y'] },
      '00xF;11yL;',
    ],
    ['{{#each input.a}}{{@key}}={{this}};{{/each}}', { a: { x: 1, y: 2 } }, 'x=1;y=2;'],
    ['{{#each input.a}}{{n}}{{this.n}}{{./n}}{{/each}}', { a: [{ n: 1 }] }, '111'],
    ['{{#each input.a}}x{{else}}none{{/each}}', { a: [] }, 'none'],
    ['{{#each input.a}}x{{else}}none{{/each}}', {}, 'none'],
    ['{{#each input.a}}x{{else}}none{{/each}}', { a: 'text' }, 'none'],
    ['{{#each input.a}}{{this}},{{/each}}', { a: '[1,2]' }, '1,2,'],
    [
      '{{#each input.a}}{{#each this}}{{@../index}}{{@index}}{{../../input.t}} {{/each}}{{/each}}',
      { a: [[1], [1, 2]], t: 't' },
      '00t 10t 11t ',
    ],
    [
      '{{#each input.a as |row i|}}{{#each row as |cell|}}{{i}}{{cell}} {{/each}}{{/each}}',
      { a: [[5], [6]] },
      '05 16 ',
    ],
    ['a\n{{#if input.a}}\nb\n{{/if}}\nc', { a: 1 }, 'a\nb\nc'],
    ['a {{~input.a~}} b', { a: 1 }, 'a1b'],
    ['x{{! gone }}y{{!-- {{input.a}} --}}z', {}, 'xyz'],
    ['\\{{input.a}} \\\\{{input.a}} \\{{a.0}}', { a: 1 }, '{{input.a}} \\1 {{a.0}}'],
  ])('WF-TPL-30 %s with %j', (source, input, want) => {
    expect(text(source, { input })).toBe(want);
  });
});

describe('stored values', () => {
  const large = new LargeValue('ref-1', 5_000);
  const facts = {
    blackboard: { build: { output: { stdout: large, other: new LargeValue('ref-2', 9) }, score: 1 } },
  };

  it.each([
    ['{{build.score}}', []],
    ['{{build.output.stdout}}', ['ref-1']],
    ['{{build.output}}', ['ref-1', 'ref-2']],
    ['{{json blackboard}}', ['ref-1', 'ref-2']],
    ['{{length build.output.stdout}}', ['ref-1']],
    ['{{length build.output}}', []],
    ['{{default build.output.stdout "x"}}', ['ref-1']],
    ['{{build.output.stdout.field}}', ['ref-1']],
    ['{{#if build.output.stdout}}{{/if}}', ['ref-1']],
    ['{{#each build.output}}{{@key}}{{/each}}', []],
    ['{{#each build.output.stdout}}{{/each}}', ['ref-1']],
    ['{{build.output.other}}{{build.output.stdout}}{{build.output.other}}', ['ref-2', 'ref-1']],
    ['{{#if build.score}}{{else}}{{build.output.stdout}}{{/if}}', []],
  ])('%s needs %j', (source, want) => {
    const result = render(source, scope(facts));
    expect(result.kind === 'needs' ? result.refs : []).toEqual(want);
  });

  it('renders as if inline once they are loaded', () => {
    const loaded = new Map<string, unknown>([
      ['ref-1', '{"field":"deep"}'],
      ['ref-2', [1]],
    ]);
    const result = render(
      '{{build.output.stdout.field}} {{build.output}} {{length build.output.stdout}}',
      scope(facts),
      loaded,
    );
    expect(result).toEqual({
      kind: 'rendered',
      text: 'deep {"stdout":"{\\"field\\":\\"deep\\"}","other":[1]} 16',
      missing: [],
    });
  });

  it('takes data with the same fields for data', () => {
    expect(text('{{input.a}}', { input: { a: { ref: 'ref-1', bytes: 3 } } })).toBe('{"ref":"ref-1","bytes":3}');
  });

  it('refuses to load more than the limit', () => {
    const at = (bytes: number) =>
      scope({ blackboard: { build: { a: new LargeValue('a', bytes), b: new LargeValue('b', 1) } } });
    const source = '{{build.a}}{{build.b}}';
    const most = Math.floor(workLimits.turn / prices.loadedByte);
    expect(render(source, at(most / 2))).toMatchObject({ kind: 'needs' });
    expect(() => render(source, at(most))).toThrow(WorkBudgetExceeded);
  });
});

describe('work bounds', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => index);
  const long = 'x'.repeat(1024 * 1024);

  it.each([
    ['loops within loops', '{{#each input.many}}{{#each @root.input.many}}x{{/each}}{{/each}}'],
    ['empty loops within loops', '{{#each input.many}}{{#each @root.input.many}}{{/each}}{{/each}}'],
    ['JSON of texts in a loop', '{{#each input.many}}{{#if (json @root.input.long)}}{{/if}}{{/each}}'],
    ['long texts in a loop', '{{#each input.many}}{{#if (upper @root.input.long)}}{{/if}}{{/each}}'],
    ['lengths in a loop', '{{#each input.many}}{{length @root.input.long}}{{/each}}'],
    ['placeholders in a loop', '{{#each input.many}}{{#each @root.input.many}}{{nope}}{{/each}}{{/each}}'],
  ])('stops %s', (_name, source) => {
    expect(() => text(source, { input: { many, long } })).toThrow(WorkBudgetExceeded);
  });

  it('lets four texts of 1 MiB through, the limit of one rendering, and not one character more', () => {
    const four = '{{input.long}}{{input.long}}{{input.long}}{{input.long}}';
    expect(text(four, { input: { long } })).toHaveLength(templateLimits.renderedLength);
    expect(() => text(`${four}x`, { input: { long } })).toThrow(/longer than/);
  });

  it('counts each pass of a loop before the first', () => {
    const source = '{{#each input.many}}{{/each}}';
    const cost = prices.step * 3_002 + prices.segment * 2 + parseTemplate(source).cost;
    const enough = new Work(cost);
    expect(render(source, scope({ input: { many } }), undefined, enough)).toMatchObject({ kind: 'rendered' });
    expect(enough.left).toBe(0);
    const short = new Work(cost - 1);
    expect(() => render(source, scope({ input: { many } }), undefined, short)).toThrow(WorkBudgetExceeded);
  });

  it('counts the characters of JSON that is read through, once for each text', () => {
    const json = `{"a":"${long}"}`;
    const work = new Work();
    const before = work.left;
    render(
      '{{#each input.many}}{{#if @root.input.json.a}}{{/if}}{{/each}}',
      scope({ input: { many, json } }),
      undefined,
      work,
    );
    expect(before - work.left).toBeGreaterThan(json.length * prices.character);
    expect(before - work.left).toBeLessThan(json.length * prices.character * 2.5);
  });

  it.each(['{{json input.big}}', '{{input.big}}'])('writes an object as %s once in a turn, and pays once', (tag) => {
    const big = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index]));
    const work = new Work();
    const [facts, spent] = [scope({ input: { big } }), [work.left]];
    for (let round = 0; round < 3; round++) {
      render(tag, facts, undefined, work);
      spent.push(work.left);
    }
    const [first = 0, second = 0, third = 0] = spent.slice(1).map((left, index) => (spent[index] ?? 0) - left);
    expect(second).toBe(third);
    expect(first - second).toBeGreaterThan(1_000 * (prices.jsonNode + prices.jsonTableKey));
  });

  it('pays for an object again where it holds values of the output store, and in another turn', () => {
    const large = new LargeValue('ref', 5_000);
    const [stored, inline] = [scope({ blackboard: { build: { large } } }), scope({ input: { a: { b: 1 } } })];
    const loaded = (text: string) => new Map([['ref', text]]);
    const work = new Work();
    for (const text of ['one', 'two'])
      expect(render('{{json blackboard.build}}', stored, loaded(text), work)).toMatchObject({
        text: JSON.stringify({ large: text }, null, 2),
      });
    const costs = [1, 2].map(() => {
      const own = new Work();
      const before = own.left;
      render('{{json input.a}}', inline, undefined, own);
      return before - own.left;
    });
    expect(costs[0]).toBe(costs[1]);
  });

  it('ends a value that is nested too deep with an error of its own', () => {
    const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
    const most = limits.jsonDepth;
    expect(text('{{input}}', { input: nested(most) })).toHaveLength(2 * most);
    expect(() => text('{{input}}', { input: nested(most + 1) })).toThrow(NestedTooDeep);
  });

  it('shares one count of work among templates', () => {
    const work = new Work(20_000);
    const once = () => render('{{#each input.many}}{{/each}}', scope({ input: { many: [1, 2, 3] } }), undefined, work);
    expect(() => {
      for (let round = 0; round < 20; round++) once();
    }).toThrow(WorkBudgetExceeded);
  });
});

describe('properties', () => {
  it('a text without tags renders as itself', () => {
    const plain = fc.string({ unit: 'binary' }).filter((source) => !/\{\{|\0/.test(source));
    fc.assert(
      fc.property(plain, (source) => {
        expect(text(source)).toBe(source);
      }),
    );
  });

  it('WF-TPL-30 gives what Handlebars itself gives for the same template', () => {
    const handlebars = Handlebars.create();
    // Texts only: Handlebars adds up numbers that are side by side.
    const input = { a: 'A<&>', b: '', n: '7', list: ['x', 'y'], rows: [{ k: 'r' }, { k: 's' }], o: { p: 'q' } };
    const blank = fc.constantFrom('', ' ', '\n', '  \n', 't', ' }', '"', '\r\n');
    const tag = fc.constantFrom(
      '{{input.a}}',
      '{{{input.n}}}',
      '{{~input.o.p}}',
      '{{input.a~}}',
      '{{&input.b}}',
      '{{! c }}',
      '{{!-- }} --}}',
      '\\{{input.a}}',
      '\\\\{{input.a}}',
      '{{@root.input.n}}',
      '{{input.list.[1]}}',
    );
    const { nodes } = fc.letrec<{ nodes: string; node: string }>((tie) => ({
      nodes: fc.array(tie('node'), { maxLength: 5 }).map((parts) => parts.join('')),
      node: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        blank,
        tag,
        fc
          .tuple(blank, tie('nodes'), tie('nodes'))
          .map(([b, yes, no]) => `${b}{{#if input.a}}${yes}{{else}}${no}{{/if}}${b}`),
        fc
          .tuple(tie('nodes'), tie('nodes'))
          .map(([yes, no]) => `{{#if input.b}}${yes}{{~else if input.n~}}${no}{{/if}}`),
        tie('nodes').map((body) => `{{#each @root.input.list}}${body}{{this}}{{@index}}-{{@key}}{{/each}}`),
        tie('nodes').map(
          (body) => `{{#each @root.input.rows as |row i|}}${body}{{row.k}}{{i}} {{k}}{{#if @last}}.{{/if}}{{/each}}`,
        ),
      ),
    }));
    // Inside each, `input` would be a field of the item; both sides then have to agree that it is absent.
    const source = nodes.map((template) =>
      template.replaceAll(/\binput\./g, '@root.input.').replaceAll('@root.@root', '@root'),
    );
    fc.assert(
      fc.property(source, (template) => {
        fc.pre(!template.includes('{{{{'));
        const wanted = orRefused(() => handlebars.compile(template, { noEscape: true })({ input }));
        expect(orRefused(() => text(template, { input }))).toBe(wanted);
      }),
      { numRuns: rounds(170) },
    );
  });

  it('AMB-020 a value renders as itself, whatever it contains', () => {
    const pieces = fc.array(fc.constantFrom('{{', '}}', '\\', '<', '&', '"', '`', '${', 'a', '\u0000', '😀', '\n'));
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      pieces.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(value, (a) => {
        expect(text('[{{input.a}}]', { input: { a } })).toBe(`[${a}]`);
      }),
    );
  });

  it('compact JSON of any value reads back as the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (a) => {
        expect(JSON.parse(text('{{json input.a}}', { input: { a } }))).toEqual(JSON.parse(JSON.stringify(a)));
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { templateLimits } from './limits.ts';
import { checkTemplate, parseTemplate } from './parse.ts';
import { TemplateError } from './template-error.ts';

function references(source: string): string[] {
  const check = checkTemplate(source);
  if (!check.ok) throw new Error(check.message);
  return check.references.map((parts) => parts.join('/'));
}

/** 'done', or the class of what was thrown. */
function outcomeOf(run: () => unknown): unknown {
  try {
    run();
    return 'done';
  } catch (error) {
    return (error as Error).constructor;
  }
}

describe('checkTemplate', () => {
  it.each([
    ['plain text', []],
    ['{{intent}} and {{input.KEY}}', ['intent', 'input/KEY']],
    ['{{build-1.output.stdout}}', ['build-1/output/stdout']],
    ['{{judges.agents.0.output.score}} {{judges.agents.12}}', ['judges/agents/0/output/score', 'judges/agents/12']],
    ['{{upper (trim input.name)}}', ['input/name']],
    ['{{default input.name human.feedback}}', ['input/name', 'human/feedback']],
    ['{{default input.n 1.5}}', ['input/n']],
    [
      '{{#if input.a}}{{input.b}}{{else if input.c}}{{input.d}}{{else}}{{input.e}}{{/if}}',
      ['input/a', 'input/b', 'input/c', 'input/d', 'input/e'],
    ],
    [
      '{{#each input.list}}{{name}}{{this}}{{../input.x}}{{@root.input.y}}{{else}}{{input.z}}{{/each}}',
      ['input/list', 'input/x', 'input/y', 'input/z'],
    ],
    ['{{#each input.list as |item index|}}{{item.name}}{{index}}{{/each}}', ['input/list']],
    ['{{! input.comment }}{{!-- {{input.comment}} --}}', []],
    ['\\{{input.escaped}} \\\\{{input.real}}', ['input/real']],
    ['{{input.[odd key].0}}', ['input/odd key/0']],
    ['{{{input.raw}}} {{&input.amp}} {{~input.tight~}}', ['input/raw', 'input/amp', 'input/tight']],
  ])('lists what %j refers to', (source, want) => {
    expect(references(source)).toEqual(want);
  });

  it.each([
    ['a name that is no helper', '{{frobnicate input.x}}', "unknown helper 'frobnicate'", '1:1'],
    ['a dotted helper', '{{input.x input.y}}', "unknown helper 'input.x'", '1:1'],
    ['an unknown block', 'a\n  {{#with input}}x{{/with}}', "unknown block 'with'", '2:3'],
    ['unless, which is not documented', '{{#unless input.x}}{{/unless}}', "unknown block 'unless'", '1:1'],
    ['a section', '{{#input}}{{/input}}', "unknown block 'input'", '1:1'],
    ['lookup', '{{lookup input "x"}}', "unknown helper 'lookup'", '1:1'],
    ['log', '{{log "x"}}', "unknown helper 'log'", '1:1'],
    ['a partial', 'x {{> part}}', 'partials are not supported', '1:3'],
    ['a partial block', '{{#> part}}{{/part}}', 'partials are not supported', '1:1'],
    ['a decorator', '{{* foo}}', 'decorators are not supported', '1:1'],
    ['a raw block', 'ab {{{{raw}}}}{{{{/raw}}}}', 'raw blocks', '1:4'],
    ['named arguments', '{{upper input.x a=1}}', 'named arguments', '1:1'],
    ['too few arguments', '{{default input.x}}', "helper 'default' takes", '1:1'],
    ['a helper without argument', '{{upper}}', "helper 'upper' takes", '1:1'],
    ['too many arguments', '{{#if a b}}{{/if}}', "'if' takes one argument", '1:1'],
    ['a literal alone', '{{"x"}}', 'a literal', '1:1'],
    ['this outside each', '{{this}}', 'inside each', '1:3'],
    ['@index outside each', '{{@index}}', 'inside each', '1:3'],
    ['an unknown variable', '{{#each input.l}}{{@level}}{{/each}}', 'unknown variable', '1:20'],
    ['a level too many', '{{../x}}', 'outermost', '1:3'],
    ['an open tag', 'ab\n{{input.x', 'not closed', '2:1'],
    ['an open comment', '{{!-- x }}', 'end it with --}}', '1:1'],
    ['an open block', '{{#if input.x}}\n', 'unexpected end', '2:1'],
    ['blocks that cross', '{{#if a}}{{#each b}}{{/if}}{{/each}}', "each doesn't match if", '1:13'],
    ['a stray close', 'x{{/if}}', 'unexpected "{{/"', '1:2'],
    ['a NUL', 'ab\u0000', 'NUL', '1:3'],
    ['an operator', '{{input.a == 1}}', 'unexpected', '1:11'],
  ])('AMB-156 refuses %s and says where', (_name, source, message, place) => {
    const check = checkTemplate(source);
    expect(check).toHaveProperty('message', expect.stringContaining(message));
    expect(check.ok ? '' : `${check.line}:${check.column}`).toBe(place);
  });

  it('gives columns of the source, not of the rewritten text', () => {
    expect(checkTemplate('{{a.0.1.2}} {{nope x}}')).toMatchObject({ ok: false, line: 1, column: 13 });
    expect(checkTemplate('{{a.0}}\r\n{{b.1.2}}{{nope x}}')).toMatchObject({ ok: false, line: 2, column: 10 });
  });

  it('refuses what is no text, even a ready-made tree', () => {
    const tree = { type: 'Program', body: [] } as unknown as string;
    expect(checkTemplate(tree)).toMatchObject({ ok: false, message: 'a template must be a string' });
  });

  it.each([
    ['characters', (n: number) => 'x'.repeat(n), limits.templateLength],
    ['nested blocks', (n: number) => '{{#if a}}'.repeat(n) + '{{/if}}'.repeat(n), templateLimits.blockDepth],
    ['else branches', (n: number) => `{{#if a}}${'{{else if a}}'.repeat(n - 1)}{{/if}}`, templateLimits.blockDepth],
    [
      'nested calls',
      (n: number) => `{{upper ${'(upper '.repeat(n)}input.a${')'.repeat(n)}}}`,
      templateLimits.callDepth,
    ],
  ])('accepts the limit of %s and refuses one more', (_name, make, limit) => {
    expect(checkTemplate(make(limit - 1))).toMatchObject({ ok: true });
    expect(checkTemplate(make(limit))).toMatchObject({ ok: true });
    expect(checkTemplate(make(limit + 1))).toMatchObject({ ok: false });
  });

  it('refuses more tokens than the parser can take quickly', () => {
    for (const source of [
      '{{a}}'.repeat(10_000),
      `{{a${'.a'.repeat(20_000)}}}`,
      `{{default ${'a '.repeat(20_000)}}}`,
    ]) {
      expect(checkTemplate(source)).toHaveProperty('message', expect.stringContaining('tokens'));
    }
    expect(checkTemplate('{{abc}}'.repeat(2_000))).toMatchObject({ ok: true });
  });

  it('throws nothing but TemplateError, whatever the text', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      '{',
      '}',
      '#if ',
      '#each ',
      '/if',
      '/each',
      'else',
      '~',
      '!',
      '!--',
      '--',
      '\\',
      '"',
      "'",
      '[',
      ']',
      '(',
      ')',
      ' ',
      '\n',
      '.',
      '..',
      '/',
      '0',
      '12',
      'a',
      'this',
      '@index',
      '|',
      'as |',
      '=',
      'input.x',
      'upper ',
      '>',
      '*',
      '&',
      '^',
    );
    const source = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(source, (text) => {
        expect(outcomeOf(() => parseTemplate(text))).toBeOneOf(['done', TemplateError]);
      }),
      { numRuns: 3_000 },
    );
  });
});

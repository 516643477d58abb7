import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TemplateExpression, TemplateNode } from '../template/template.ts';
import { ExpressionError } from './expression-error.ts';
import { expressionLimits } from './limits.ts';
import { checkExpression, type ExpressionNode, parseExpression } from './parse.ts';

/** Fully parenthesised, so that a test shows how operators bind. */
function shape(node: ExpressionNode): string {
  if (node.kind === 'literal') return JSON.stringify(node.value);
  if (node.kind === 'path') return node.parts.join('/');
  if (node.kind === 'not') return `!${shape(node.operand)}`;
  if (node.kind === 'braces') return embedded({ kind: 'value', value: node.value });
  if (node.kind === 'template') return `"${node.nodes.map(embedded).join('')}"`;
  const operator = { and: '&&', or: '||', compare: node.kind === 'compare' ? node.operator : '' }[node.kind];
  return `(${shape(node.left)} ${operator} ${shape(node.right)})`;
}

function embedded(node: TemplateNode): string {
  if (node.kind === 'text') return node.text;
  return node.kind === 'value' ? `{{${written(node.value)}}}` : node.kind;
}

function written(value: TemplateExpression): string {
  if (value.kind === 'literal') return JSON.stringify(value.value);
  return value.kind === 'path' ? value.parts.join('/') : [value.helper, ...value.args.map(written)].join(' ');
}

function outcomeOf(source: string): unknown {
  try {
    parseExpression(source);
    return 'done';
  } catch (error) {
    return (error as Error).constructor;
  }
}

describe('parseExpression', () => {
  it.each([
    ['{{build.output.exit_code}} == 0', '(build/output/exit_code == 0)'],
    ['build.output.exit_code==0', '(build/output/exit_code == 0)'],
    ['{{ my-state.agents.0.output.[odd key] }}', 'my-state/agents/0/output/odd key'],
    ['my-state.score>=-1', '(my-state/score >= -1)'],
    ['a || b && c', '(a || (b && c))'],
    ['a && b || c', '((a && b) || c)'],
    ['a || b || c', '((a || b) || c)'],
    ['!a && !!b', '(!a && !!b)'],
    ['!a == b', '(!a == b)'],
    ['!(a == b)', '!(a == b)'],
    ['a == b && c != d', '((a == b) && (c != d))'],
    ['a < 1 == b > 2', '((a < 1) == (b > 2))'],
    ['a == b == c', '((a == b) == c)'],
    ['(a < b) < c', '((a < b) < c)'],
    ['(((a)))', 'a'],
    ['{{length a.b}} > 2', '({{length a/b}} > 2)'],
    ['{{default a.b "}}"}}', '{{default a/b "}}"}}'],
    ['"{{trim a.b}}" == "ok"', '("{{trim a/b}}" == "ok")'],
    ['"{{default a "x"}}!"', '"{{default a "x"}}!"'],
    ["'{{a}} it\\'s' == b", '("{{a}} it\'s" == b)'],
    ['"\\{{a}}" == b', '("{{a}}" == b)'],
    ['"x\\"y\\n" == \'it\\\'s\'', '("x\\"y\\n" == "it\'s")'],
    ['true != null', '(true != null)'],
    ['truest || nullable.x', '(truest || nullable/x)'],
    ['1.5e3 <= 0.25', '(1500 <= 0.25)'],
    ['\n a\t==\r\n"😀"', '(a == "😀")'],
  ])('WF-COND-25 AMB-155 reads %j as %s', (source, want) => {
    expect(shape(parseExpression(source).root)).toBe(want);
  });

  it.each([
    ['', 'the expression ends where a value was expected', 1, 1],
    ['a ==', 'the expression ends where a value was expected', 1, 5],
    ['a b', "'b' was not expected here", 1, 3],
    ['a = b', "'=' is not an operator; write ==", 1, 3],
    ['a === b', "'=' is not an operator; write ==", 1, 5],
    ['a & b', 'unexpected "&"', 1, 3],
    ['a + b', 'unexpected "+"', 1, 3],
    ['a\n&& )', "')' where a value was expected", 2, 4],
    ['(a', 'the parenthesis is not closed', 1, 1],
    ['a)', "')' was not expected here", 1, 2],
    ['"abc', 'the string is not closed', 1, 1],
    ["a == 'b\\'", 'the string is not closed', 1, 6],
    ['{{a', '{{ is not closed', 1, 1],
    ['{{}}', 'is one value', 1, 1],
    ['{{! a }} == 1', 'is one value', 1, 1],
    ['{{#if a}}true{{/if}}', 'put blocks into quotes', 1, 1],
    ['a == {{length}}', "'length' takes one argument", 1, 6],
    ['a == {{nope b}}', "unknown helper 'nope'", 1, 6],
    ['"{{a" == "b"', '{{ is not closed', 1, 2],
    ['"x {{#if a}}y" == "b"', 'a block not closed', 1, 14],
    ['{{a}} {{b}}', "'b' was not expected here", 1, 7],
    ['1 < a < 3', 'comparisons cannot be chained', 1, 7],
    ['007 == a', 'unexpected "0"', 1, 1],
    ['a.', 'unexpected "."', 1, 2],
    ['a..b', 'unexpected "."', 1, 2],
    ['f(a)', "'(' was not expected here", 1, 2],
    ['this.constructor["x"]', 'unexpected "["', 1, 17],
    ['a ? b : c', 'unexpected "?"', 1, 3],
    ['`x`', 'unexpected "`"', 1, 1],
  ])('AMB-067 refuses %j and says where', (source, message, ...place) => {
    const check = checkExpression(source);
    expect(check).toHaveProperty('message', expect.stringContaining(message));
    expect(check.ok ? [] : [check.line, check.column]).toEqual(place);
  });

  it('lists what it refers to', () => {
    const check = checkExpression('{{a.b.0}} == 1 && !c || "d" == human.feedback');
    expect(check).toEqual({ ok: true, references: [['a', 'b', '0'], ['c'], ['human', 'feedback']] });
  });

  it.each([
    ['characters', (n: number) => 'a'.repeat(n), expressionLimits.length],
    ['parentheses', (n: number) => `${'('.repeat(n)}a${')'.repeat(n)}`, expressionLimits.depth],
    ['negations', (n: number) => `${'!'.repeat(n)}a`, expressionLimits.depth],
  ])('accepts the limit of %s and refuses one more', (_name, make, limit) => {
    expect([limit - 1, limit, limit + 1].map((n) => checkExpression(make(n)).ok)).toEqual([true, true, false]);
  });

  it('reads the longest chain of operators without running out of stack', () => {
    expect(checkExpression(`a${'||a'.repeat((expressionLimits.length - 1) / 3)}`)).toMatchObject({ ok: true });
    expect(checkExpression(`a${'==a'.repeat((expressionLimits.length - 1) / 3)}`)).toMatchObject({ ok: true });
  });

  it('throws nothing but ExpressionError, whatever the text', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      'a',
      'a.b',
      '.',
      '0',
      '1.5',
      '-',
      '"',
      "'",
      '\\',
      '&&',
      '||',
      '==',
      '!=',
      '<',
      '>',
      '<=',
      '>=',
      '!',
      '(',
      ')',
      ' ',
      '\n',
      '[',
      ']',
      'true',
      'null',
      '=',
      '😀',
    );
    const source = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(source, (text) => {
        expect(outcomeOf(text)).toBeOneOf(['done', ExpressionError]);
      }),
      { numRuns: 3_000 },
    );
  });

  it('reads back what a random tree prints as', () => {
    const leaf = fc.constantFrom('a', 'b-1.c', '1', '-2.5', '"x"', 'true', 'null');
    const { node } = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        leaf,
        tie('node').map((operand) => `!${operand}`),
        fc
          .tuple(tie('node'), fc.constantFrom('&&', '||', '==', '!=', '<', '>', '<=', '>='), tie('node'))
          .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
      ),
    }));
    fc.assert(
      fc.property(node, (source) => {
        expect(shape(parseExpression(source).root)).toBe(source.replaceAll('b-1.c', 'b-1/c'));
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { bodyTemplateProblem } from '../../lib/tool-chain/parse-body.ts';
import { renderBody } from '../../lib/tool-chain/render-body.ts';
import { templateLimits } from '../../lib/template/limits.ts';
import { WorkBudgetExceeded } from '../../lib/work/work.ts';
import { restedMsOf, turnMs } from './support/turns.ts';

const blocks = templateLimits.blockDepth - 2;
const nest = (text: string, open: (at: number) => string, close: string, count = blocks): string =>
  Array.from({ length: count }, (_, at) => open(at)).join('') + text + close.repeat(count);

/** The longest template of a form that is accepted. */
function longest(of: (count: number) => string): string {
  let [least, most] = [1, limits.templateLength];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (bodyTemplateProblem(of(middle)) === undefined) least = middle;
    else most = middle - 1;
  }
  return of(least);
}

const pass = (body: string, names = ''): string => `{{#each input.a${names}}}${body}{{/each}}{}`;
const forms: readonly [string, string][] = [
  ['names of a block', pass('', ' as |item key|')],
  [
    'names of nested blocks',
    nest(pass('{{absent}}', ' as |item key|'), (at) => `{{#with ../input as |n${at}|}}`, '{{/with}}'),
  ],
  ['a fact of a loop far outside', longest((count) => pass(`{{@${'../'.repeat(count)}index}}`))],
  [
    'a fact of the outermost loop',
    `{{#each input.one}}${nest(pass(`{{@${'../'.repeat(9)}key}}`), () => '{{#each ../input.one}}', '{{/each}}')}{{/each}}`,
  ],
  ['a long path of a fact', longest((count) => pass(`{{@key${'.k'.repeat(count)}}}`))],
  ['a long path of the root', longest((count) => pass(`{{@root${'.k'.repeat(count)}}}`))],
  ['a long path of a name', longest((count) => pass(`{{item${'.k'.repeat(count)}}}`, ' as |item|'))],
  ['a long path of a value', longest((count) => pass(`{{this${'.k'.repeat(count)}}}`))],
  ['a context far outside', longest((count) => pass(`{{${'../'.repeat(count)}input}}`))],
  ['a nested loop', nest(pass('{{this}}'), () => '{{#with @root}}', '{{/with}}')],
  ['conditions', pass(nest('', () => '{{#if @first includeZero=@last}}{{else}}', '{{/if}}', blocks / 2))],
  ['lookups', pass(`{{lookup ${'(lookup '.repeat(7)}this${' @key)'.repeat(7)} @key}}`)],
  ['a list', pass('{{@root.input.one}}')],
];

describe('an attacker who may register any body_template', () => {
  it.each(forms)(
    'pays for %s, at its limits, in each pass of a loop',
    (_title, template) => {
      expect(bodyTemplateProblem(template)).toBeUndefined();
      const input = { a: Array.from({ length: 60_000 }, () => 0), one: [[[0]]] };
      const render = (): void => {
        try {
          renderBody(template, { input, state: {} }, 1024 * 1024);
        } catch (error) {
          if (!(error instanceof WorkBudgetExceeded)) throw error;
        }
      };
      expect(restedMsOf(render, turnMs)).toBeLessThan(turnMs);
    },
    120_000,
  );
});

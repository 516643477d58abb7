import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { checkDefinition } from '../../lib/definition/check.ts';
import type { fullWorkflow } from '../../test/bad-manifests/full-workflow.ts';
import { badWorkflow, type Edit } from '../../test/bad-manifests/row.ts';
import { many, nested } from '../../test/bad-manifests/rows/words.ts';
import { limitsPage } from './limits-page.ts';
import { limitGroups, notMet } from './limits-table.ts';

const rows = limitGroups.flatMap((group) => group.rows);
const root = resolve(import.meta.dirname, '../..');
const sources = globSync('{crds,lib,controllers,api,gateway,relay,edge}/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => readFileSync(resolve(root, path), 'utf8'))
  .join('\n');

describe('the page of limits', () => {
  it('AMB-192 has every number of crds/limits.ts that a user can meet', () => {
    const named = new Set<string>([...notMet, ...rows.flatMap(({ key }) => key ?? [])]);
    expect(Object.keys(limits).filter((key) => !named.has(key))).toEqual([]);
  });

  it('AMB-192 names no message that nothing says', () => {
    const parts = rows.flatMap(({ says }) =>
      says
        .split('…')
        .map((part) => part.trim())
        .filter((part) => part.length > 3),
    );
    expect(parts.filter((part) => !sources.includes(part) && !composed.has(part))).toEqual([]);
  });

  it('AMB-192 says of what nothing refuses that it is no refusal', () => {
    const page = limitsPage();
    expect(page).toContain(
      '| `final_output` in full, in an answer | 10 MiB | nothing: what has no room stays a reference |',
    );
    expect(rows.filter(({ says, otherwise }) => (says === '') === (otherwise === undefined))).toEqual([]);
  });

  it('EDGE-FLOW-10 says how many commands a second a host takes for long', () => {
    expect(limitsPage()).toMatch(/^\| Commands to one host for long, [^|]*\| 15 commands a second \| `JournalFull`/m);
  });

  it('says bytes in the largest unit without a fraction', () => {
    expect(limitsPage()).toContain('| Input, as JSON | 1 MiB |');
    expect(limitsPage()).toContain('| One argument or variable of a command | 131,071 bytes |');
  });
});

/** Made of parts in crds/validation-problem.ts. */
const composed = new Set(['must have at most', 'must be at most', ', not']);

const transition = { condition: 'always', target: 'done' };
const entriesOf = (count: number) => Object.fromEntries(many(count, (index) => [`k${index}`, 'x']));
const cases: [what: string, path: string, most: number, value: (count: number) => unknown][] = [
  [
    '`transitions` of a state',
    'spec.states.system.transitions',
    limits.transitionsPerState,
    (n) => many(n, () => transition),
  ],
  ['`command`', 'spec.states.container.command', limits.commandElements, (n) => many(n, () => 'x')],
  ['`env`, `context`, `output_template`', 'spec.states.container.env', limits.mapEntries, entriesOf],
  ['`max_total_transitions`', 'spec.max_total_transitions', limits.transitionsMax, (n) => n],
  ['`max_state_visits`', 'spec.states.agent.max_state_visits', limits.stateVisitsMax, (n) => n],
  ['`retry.max_attempts`', 'spec.states.container.retry.max_attempts', limits.retryAttemptsMax, (n) => n],
  ['`image`', 'spec.states.container.image', limits.imageReferenceLength, (n) => 'a'.repeat(n)],
  [
    '`resources.memory`',
    'spec.states.container.resources.memory',
    limits.quantityLength,
    (n) => `${'1'.repeat(n - 1)}G`,
  ],
  ['Levels of a value in `context`', 'spec.context.deep', limits.jsonDepth, nested],
];

describe('a refusal says what the page says', () => {
  it.each(cases)('AMB-192 %s', (what, path, most, value) => {
    const problems = (count: number) => {
      const edit: Edit = [path, value(count)];
      return checkDefinition((badWorkflow({ edits: [edit] }) as ReturnType<typeof fullWorkflow>).spec).filter(
        ({ severity }) => severity === 'error',
      );
    };
    const said = rows.find((row) => row.what === what);
    expect(said?.most).toBe(most);
    for (const count of [most - 1, most]) expect(problems(count)).toEqual([]);
    const pattern = (said?.says ?? '')
      .split('…')
      .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
      .join('.*');
    expect(problems(most + 1).map(({ message }) => message)).toEqual([expect.stringMatching(pattern)]);
  });
});

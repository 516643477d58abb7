import { Value } from 'typebox/value';
import { describe, expect, it, vi } from 'vitest';
import { annotations, globalNamespace, labels } from '../../../crds/labels.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowScope } from '../../../lib/workflow-lookup/index.ts';
import { userObjectName } from '../../../lib/manifest/index.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { listWorkflows } from './contract.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { createSearches } from '../../../lib/word-search.ts';
import { createListRoute } from './list.ts';
import { listCursor, listPage, parseLabels } from './list-page.ts';

function one(name: string, scope: WorkflowScope = 'tenant', own: Record<string, string> = {}): Workflow {
  const isUsers = scope === 'user';
  return {
    ...aWorkflow(name).state('end', anEnd()).build(),
    metadata: {
      name: isUsers ? userObjectName('ada', name) : name,
      namespace: scope === 'global' ? globalNamespace : 'team',
      labels: { ...own, ...(isUsers ? { [labels.user]: 'ada' } : {}) },
      ...(isUsers ? { annotations: { [annotations.name]: name } } : {}),
    },
  };
}

/** Its manifest has these labels, which Kubernetes refuses. */
function keeping(name: string, kept: Record<string, string>): Workflow {
  const workflow = one(name, 'tenant', name === 'b' ? { 'reserved.k8s.io/a': 'b' } : {});
  const notes = { [annotations.given]: JSON.stringify({ labels: kept }) };
  return { ...workflow, metadata: { ...workflow.metadata, annotations: notes } };
}

const shown = (workflows: readonly Workflow[]): string[] =>
  workflows.map(({ metadata }) => metadata.annotations?.[annotations.name] ?? metadata.name);
const all = ['d', 'b', 'a', 'c'].map((name) => one(name));
const searches = createSearches(createManualClock());
const query = { searches, tenant: 'acme', labels: [], limit: 50, after: undefined };

describe('a page of workflows', () => {
  it('AMB-016 is sorted by name, and of one name the narrowest scope is first', async () => {
    const { rows } = await listPage([one('a', 'global'), one('a', 'user'), one('b'), one('a')], query);
    expect(rows.map(({ metadata }) => metadata.namespace)).toEqual(['team', 'team', globalNamespace, 'team']);
    expect(shown(rows)).toEqual(['a', 'a', 'a', 'b']);
    expect(rows[0]?.metadata.labels).toHaveProperty([labels.user]);
  });

  it.each([
    [1, ['a'], 'a'],
    [3, ['a', 'b', 'c'], 'c'],
    [4, ['a', 'b', 'c', 'd'], undefined],
    [5, ['a', 'b', 'c', 'd'], undefined],
  ])('AMB-016 with a limit of %i holds %j', async (limit, names, next) => {
    const page = await listPage(all, { ...query, limit });
    expect([shown(page.rows), page.next?.name]).toEqual([names, next]);
  });

  it.each([
    [199, 199],
    [200, 200],
    [201, 200],
  ])('AMB-016 with a limit of %i holds %i of many', async (limit, size) => {
    const many = Array.from({ length: 300 }, (_, index) => one(`w-${index}`));
    expect((await listPage(many, { ...query, limit })).rows).toHaveLength(size);
  });

  it('AMB-016 continues behind the last entry, though that is gone meanwhile', async () => {
    const { next } = await listPage(all, { ...query, limit: 2 });
    const rest = all.filter(({ metadata }) => metadata.name !== 'b');
    expect(shown((await listPage(rest, { ...query, limit: 2, after: next })).rows)).toEqual(['c', 'd']);
  });

  it('AMB-016 holds those that have every label', async () => {
    const labelled = [one('a', 'tenant', { x: '1', y: '2' }), one('b', 'tenant', { x: '1' }), one('c')];
    expect(shown((await listPage(labelled, { ...query, labels: parseLabels('x=1') })).rows)).toEqual(['a', 'b']);
    expect(shown((await listPage(labelled, { ...query, labels: parseLabels('x=1,y=2') })).rows)).toEqual(['a']);
    expect(shown((await listPage(labelled, { ...query, labels: parseLabels('x=') })).rows)).toEqual([]);
    expect(shown((await listPage(labelled, { ...query, labels: parseLabels('constructor=x') })).rows)).toEqual([]);
  });

  it('AMB-016 AMB-178 holds those that have every label, also one that the object cannot have', async () => {
    const whole = (text: string) =>
      listPage([keeping('a', { 'x y': '1 2', 'z z': '' }), keeping('b', { 'x y': '1' }), one('c')], {
        ...query,
        labels: parseLabels(text),
      });
    expect(shown((await whole('x y=1 2')).rows)).toEqual(['a']);
    expect(shown((await whole('x y=1')).rows)).toEqual(['b']);
    expect(shown((await whole('x y=1 2,z z=')).rows)).toEqual(['a']);
    expect(shown((await whole('constructor=x y')).rows)).toEqual([]);
    expect(shown((await whole('reserved.k8s.io/a=b')).rows)).toEqual(['b']);
  });
});

describe('workflows whose labels are kept in an annotation', () => {
  const many = Array.from({ length: 20 }, (_, index) => [`key ${index}`, 'a value'] as const);
  const everyLabel = parseLabels(many.map((pair) => pair.join('=')).join(','));

  it('are parsed once, however many labels are asked for, and not where the text lacks them all', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    const workflows = [keeping('a', Object.fromEntries(many)), keeping('c', { other: 'a value' })];
    expect(shown((await listPage(workflows, { ...query, labels: everyLabel })).rows)).toEqual(['a']);
    const { length } = parse.mock.calls;
    parse.mockRestore();
    expect(length).toBe(1);
  });

  it('let other work go on after ten that are searched', async () => {
    const workflows = Array.from({ length: 100 }, (_, index) => keeping(`w-${index}`, Object.fromEntries(many)));
    const turns = await parsesPerTurn(() => listPage(workflows, { ...query, labels: everyLabel }));
    expect(turns.reduce((sum, count) => sum + count)).toBe(100);
    expect(Math.max(...turns)).toBeLessThanOrEqual(10);
  });

  it('let other work go on after each that is shown', async () => {
    const workflows = Array.from({ length: 20 }, (_, index) => keeping(`w-${index}`, Object.fromEntries(many)));
    const route = createListRoute({ searches, cluster: { workflows: { list: () => workflows } } } as never);
    const turns = await parsesPerTurn(() => route.handle({ query: { limit: 50 }, caller: {} } as never));
    expect(turns.reduce((sum, count) => sum + count)).toBe(20);
    expect(Math.max(...turns)).toBe(1);
  });
});

/** How often JSON was parsed in each turn of the event loop. */
async function parsesPerTurn(act: () => Promise<unknown>): Promise<number[]> {
  const parse = vi.spyOn(JSON, 'parse');
  const turns: number[] = [];
  const endTurn = (): void => {
    turns.push(parse.mock.calls.length);
    parse.mockClear();
  };
  const watch = (): void => {
    endTurn();
    next = setImmediate(watch);
  };
  let next = setImmediate(watch);
  await act();
  clearImmediate(next);
  endTurn();
  parse.mockRestore();
  return turns;
}

describe('a query of labels', () => {
  const { label } = listWorkflows.query.properties;
  const pairs = (count: number) => Array.from({ length: count }, (_, index) => `k${index}=v`).join(',');

  it('AMB-016 has 20 pairs at most', () => {
    expect([1, 20, 21].map((count) => Value.Check(label, pairs(count)))).toEqual([true, true, false]);
  });
});

describe('a cursor', () => {
  it('AMB-016 comes back as it went out', () => {
    const key = { name: 'a-1', scope: 'global' } as const;
    expect(listCursor.decode(listCursor.encode(key))).toEqual(key);
    expect(listCursor.decode(undefined)).toBeUndefined();
  });

  it.each([
    'x',
    '=',
    Buffer.from('workflows:nobody/a').toString('base64url'),
    `${Buffer.from('workflows:user/a').toString('base64url')}=`,
    Buffer.from('user/a').toString('base64url'),
  ])('AMB-016 that no list has given is refused: %j', (cursor) => {
    expect(() => listCursor.decode(cursor)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });
});

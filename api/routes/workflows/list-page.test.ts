import { describe, expect, it } from 'vitest';
import { annotations, globalNamespace, labels } from '../../../crds/labels.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { Scope } from '../../../lib/catalogue/index.ts';
import { userObjectName } from '../../../lib/manifest/index.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { listCursor, listPage, parseLabels } from './list-page.ts';

function one(name: string, scope: Scope = 'tenant', own: Record<string, string> = {}): Workflow {
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

const shown = (workflows: readonly Workflow[]): string[] =>
  workflows.map(({ metadata }) => metadata.annotations?.[annotations.name] ?? metadata.name);
const all = ['d', 'b', 'a', 'c'].map((name) => one(name));
const query = { labels: [], limit: 50, after: undefined };

describe('a page of workflows', () => {
  it('AMB-016 is sorted by name, and of one name the narrowest scope is first', () => {
    const { rows } = listPage([one('a', 'global'), one('a', 'user'), one('b'), one('a')], query);
    expect(rows.map(({ metadata }) => metadata.namespace)).toEqual(['team', 'team', globalNamespace, 'team']);
    expect(shown(rows)).toEqual(['a', 'a', 'a', 'b']);
    expect(rows[0]?.metadata.labels).toHaveProperty([labels.user]);
  });

  it.each([
    [1, ['a'], 'a'],
    [3, ['a', 'b', 'c'], 'c'],
    [4, ['a', 'b', 'c', 'd'], undefined],
    [5, ['a', 'b', 'c', 'd'], undefined],
  ])('AMB-016 with a limit of %i holds %j', (limit, names, next) => {
    const page = listPage(all, { ...query, limit });
    expect([shown(page.rows), page.next?.name]).toEqual([names, next]);
  });

  it.each([
    [199, 199],
    [200, 200],
    [201, 200],
  ])('AMB-016 with a limit of %i holds %i of many', (limit, size) => {
    const many = Array.from({ length: 300 }, (_, index) => one(`w-${index}`));
    expect(listPage(many, { ...query, limit }).rows).toHaveLength(size);
  });

  it('AMB-016 continues behind the last entry, though that is gone meanwhile', () => {
    const { next } = listPage(all, { ...query, limit: 2 });
    const rest = all.filter(({ metadata }) => metadata.name !== 'b');
    expect(shown(listPage(rest, { ...query, limit: 2, after: next }).rows)).toEqual(['c', 'd']);
  });

  it('AMB-016 holds those that have every label', () => {
    const labelled = [one('a', 'tenant', { x: '1', y: '2' }), one('b', 'tenant', { x: '1' }), one('c')];
    expect(shown(listPage(labelled, { ...query, labels: parseLabels('x=1') }).rows)).toEqual(['a', 'b']);
    expect(shown(listPage(labelled, { ...query, labels: parseLabels('x=1,y=2') }).rows)).toEqual(['a']);
    expect(shown(listPage(labelled, { ...query, labels: parseLabels('x=') }).rows)).toEqual([]);
    expect(shown(listPage(labelled, { ...query, labels: parseLabels('constructor=x') }).rows)).toEqual([]);
  });
});

describe('a cursor', () => {
  it('AMB-016 comes back as it went out', () => {
    const key = { name: 'a-1', scope: 'global' } as const;
    expect(listCursor.decode(listCursor.encode(key))).toEqual(key);
    expect(listCursor.decode(undefined)).toBeUndefined();
  });

  it.each(['x', '=', Buffer.from('nobody/a').toString('base64url'), `${Buffer.from('user/a').toString('base64url')}=`])(
    'AMB-016 that no list has given is refused: %j',
    (cursor) => {
      expect(() => listCursor.decode(cursor)).toThrow(expect.objectContaining({ code: 'invalid' }));
    },
  );
});

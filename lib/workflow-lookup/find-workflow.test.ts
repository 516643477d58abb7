import { describe, expect, it } from 'vitest';
import { annotations, globalNamespace, labels } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { createCache } from '../informer/index.ts';
import { userObjectName } from '../manifest/object-name.ts';
import { answersTo, cachedWorkflow, workflowIndexes } from './find-workflow.ts';
import { ownerKey, scopeOf } from './scope.ts';

const ada = ownerKey('ada');
const sam = ownerKey('sam');

interface Fields {
  readonly uid: string;
  readonly namespace?: string;
  readonly owner?: string;
  readonly former?: string;
}

function stored(name: string, { uid, namespace = 'tenant-a', owner, former }: Fields): Workflow {
  const workflow = aWorkflow(name).state('end', anEnd()).build();
  const named: Record<string, string> = owner === undefined ? {} : { [annotations.name]: name };
  return {
    ...workflow,
    metadata: {
      name: owner === undefined ? name : userObjectName(owner, name),
      namespace,
      uid,
      resourceVersion: '1',
      ...(owner === undefined ? {} : { labels: { [labels.user]: owner } }),
      annotations: { ...named, ...(former === undefined ? {} : { [annotations.formerIds]: former }) },
    },
  };
}

function cacheOf(...workflows: Workflow[]) {
  const cache = createCache<Workflow, 'name' | 'formerId'>({ indexes: workflowIndexes });
  for (const object of workflows) cache.apply({ type: 'ADDED', object });
  return cache;
}

const own = stored('build', { uid: 'own', owner: ada });
const tenants = stored('build', { uid: 'tenant' });
const global = stored('build', { uid: 'global', namespace: globalNamespace });
const foreign = stored('build', { uid: 'foreign', namespace: 'tenant-b' });
const others = stored('build', { uid: 'others', owner: sam });
const all = cacheOf(foreign, others, global, tenants, own);
const asked = { namespace: 'tenant-a', user: ada, nameOrUid: 'build' };

describe('the workflow that a name means', () => {
  it.each([
    ['is the own one first', all, asked, 'own'],
    ['is that of the tenant for another user', all, { ...asked, user: ownerKey('kim') }, 'tenant'],
    ['is that of the tenant where no user asks', all, { namespace: 'tenant-a', nameOrUid: 'build' }, 'tenant'],
    ['is the global one for another tenant', all, { namespace: 'tenant-c', nameOrUid: 'build' }, 'global'],
    ['is the one of the scope that is asked for', all, { ...asked, scope: 'global' as const }, 'global'],
    ['is none where that scope has none', cacheOf(own), { ...asked, scope: 'tenant' as const }, undefined],
    ['is never that of another tenant', cacheOf(foreign), asked, undefined],
    ['is never that of another user', cacheOf(others), asked, undefined],
  ])('WF-API-12 %s', (_title, cache, wanted, uid) => {
    expect(cachedWorkflow(cache, wanted)?.metadata.uid).toBe(uid);
  });
});

describe('the workflow that an id means', () => {
  it.each([
    ['own', 'own'],
    ['tenant', 'tenant'],
    ['global', 'global'],
    ['foreign', undefined],
    ['others', undefined],
    ['no user', undefined],
  ])('AMB-016 of %s is %s', (nameOrUid, uid) => {
    expect(cachedWorkflow(all, { ...asked, nameOrUid })?.metadata.uid).toBe(uid);
  });

  it('WF-API-13 is still found by an id from before it moved, unless that is of a foreign tenant', () => {
    const [first, second, third] = [1, 2, 3].map((digit) => `0b9f2c1e-1111-4222-8333-44445555666${digit}`);
    const moved = stored('deploy', { uid: 'new', namespace: globalNamespace, former: `${first},${second}` });
    const elsewhere = stored('other', { uid: 'x', namespace: 'tenant-b', former: `${third}` });
    const cache = cacheOf(moved, elsewhere);
    const found = (nameOrUid: string) => cachedWorkflow(cache, { ...asked, nameOrUid })?.metadata.uid;
    expect([first, second, third].map((id = '') => found(id))).toEqual(['new', 'new', undefined]);
  });
});

describe('Mallory names a workflow of the tenant like the id of another one', () => {
  const [taken, former] = ['0b9f2c1e-1111-4222-8333-444455556661', '0b9f2c1e-1111-4222-8333-444455556662'];
  const mallorys = [taken, former].map((name) => stored(name, { uid: `of-${name}` }));

  it('and it replaces no private workflow, none that has moved, and none that is gone', () => {
    const moved = stored('deploy', { uid: 'moved', namespace: globalNamespace, former });
    const found = (nameOrUid: string, ...others: Workflow[]) =>
      cachedWorkflow(cacheOf(...mallorys, ...others), { ...asked, nameOrUid })?.metadata.uid;
    const secret = stored('payroll', { uid: taken, owner: sam });
    expect(found(taken, secret)).toBeUndefined();
    expect(found(former, moved)).toBe('moved');
    expect(found(former)).toBeUndefined();
    expect(mallorys.map((workflow) => answersTo(workflow, { ...asked, nameOrUid: taken }))).toEqual([false, false]);
  });
});

describe('the scope of a workflow', () => {
  it.each([
    ['user', own],
    ['tenant', tenants],
    ['global', global],
  ])('is %s', (scope, workflow) => {
    expect(scopeOf(workflow)).toBe(scope);
  });

  it('is global in the global namespace, whatever its labels say', () => {
    const labelled = stored('build', { uid: 'g', namespace: globalNamespace, owner: ada });
    expect(scopeOf(labelled)).toBe('global');
  });
});

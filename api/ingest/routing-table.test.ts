import { describe, expect, it } from 'vitest';
import type { StimulusRouter, StimulusRouterSpec } from '../../crds/schema/stimulus-router.ts';
import { createCache } from '../../lib/informer/index.ts';
import { sourceKeysOf } from '../../lib/stimulus/source-claims.ts';
import { createRoutingTable, type Destination, type RoutingTable } from './routing-table.ts';

const namespaces: Readonly<Record<string, string>> = {
  'windlass-system': 'system',
  'tenant-acme': 'acme',
  'tenant-globex': 'globex',
};
const tenants = {
  tenantOf: (namespace: string) => namespaces[namespace],
  namespaceOf: (slug: string) => Object.keys(namespaces).find((name) => namespaces[name] === slug),
  uidOf: () => undefined,
  assigneeOf: (source: string): string | undefined => assignees[source],
};
/** Assignments of administrators, by source. */
const assignees: Readonly<Record<string, string>> = { assigned: 'tenant-globex', nowhere: 'kube-system' };

interface RouterFields {
  readonly name?: string;
  readonly created?: string;
  readonly claims?: Readonly<Record<string, string>>;
}

let version = 0;
const aRouter = (namespace: string, spec: StimulusRouterSpec, fields: RouterFields = {}): StimulusRouter => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'StimulusRouter',
  metadata: {
    name: fields.name ?? 'events',
    namespace,
    uid: `${namespace}/${fields.name ?? 'events'}`,
    resourceVersion: String(++version),
    creationTimestamp: fields.created ?? '2026-01-01T00:00:00Z',
  },
  spec,
  status: { claims: Object.entries(fields.claims ?? {}).map(([source, since]) => ({ source, since })) },
});

/** A table that knows some routers, and finds `late` ones when it asks the server, which has `changed` ones in place of some. */
function aTable(
  known: readonly StimulusRouter[],
  late: readonly StimulusRouter[] = [],
  changed: Readonly<Record<string, StimulusRouter | undefined>> = {},
) {
  const routers = createCache<StimulusRouter, 'namespace' | 'source'>({
    indexes: {
      namespace: ({ metadata }) => [metadata.namespace ?? ''],
      source: sourceKeysOf,
    },
  });
  for (const object of known) routers.apply({ type: 'ADDED', object });
  const asked: string[] = [];
  const read: string[] = [];
  const clock = { now: 50_000, steadyMs: () => clock.now };
  const table: RoutingTable = createRoutingTable({
    clock,
    routers,
    tenants,
    systemTenant: 'system',
    current: async ({ namespace, name }) => {
      read.push(`${namespace}/${name}`);
      const key = `${namespace}/${name}`;
      const found = key in changed ? changed[key] : routers.get(key);
      if (found !== undefined) routers.remember(found);
      return found;
    },
    catchUp: async (namespace, probe) => {
      asked.push(namespace);
      for (const object of late) routers.apply({ type: 'ADDED', object });
      return probe();
    },
  });
  return { table, asked, read, clock, routers };
}

const acme = aRouter('tenant-acme', { routes: { github: 'build', http_api: 'answer' } });
const to = (tenant: string, namespace: string | undefined, routing: Partial<Destination['routing']>): Destination => ({
  tenant,
  namespace,
  routing: { confidenceThreshold: 0.7, ...routing },
});

describe('the route of a stimulus', () => {
  const younger = aRouter('tenant-globex', { routes: { github: 'theirs' } }, { created: '2026-02-01T00:00:00Z' });
  const outsider = aRouter('default', { routes: { github: 'mine' } }, { created: '2020-01-01T00:00:00Z' });
  const asking = aRouter('tenant-acme', { router_agent: 'triage', confidence_threshold: 0.9 }, { name: 'z' });
  const later = aRouter(
    'tenant-acme',
    { router_agent: 'other', confidence_threshold: 0 },
    { name: 'a', created: '2026-03-01T00:00:00Z' },
  );

  it.each<[title: string, known: StimulusRouter[], asked: [source: string, tenant?: string], want: Destination]>([
    [
      'ROUTE-04 by the route of its source',
      [acme],
      ['github', 'acme'],
      to('acme', 'tenant-acme', { workflow: 'build' }),
    ],
    [
      'AMB-042 by the source http_api as by any other',
      [acme],
      ['http_api', 'acme'],
      to('acme', 'tenant-acme', { workflow: 'answer' }),
    ],
    [
      'AMB-144 without a tenant to the one that claims the source',
      [younger, acme],
      ['github'],
      to('acme', 'tenant-acme', { workflow: 'build' }),
    ],
    [
      'AMB-144 to the recorded claim, not to an older router',
      [
        acme,
        aRouter(
          'tenant-globex',
          { routes: { github: 'theirs' } },
          { created: '2026-02-01T00:00:00Z', claims: { github: '2026-02-01T00:00:01.000Z' } },
        ),
      ],
      ['github'],
      to('globex', 'tenant-globex', { workflow: 'theirs' }),
    ],
    [
      'of a tenant by its own route, not by the claim to the source',
      [acme, younger],
      ['github', 'globex'],
      to('globex', 'tenant-globex', { workflow: 'theirs' }),
    ],
    [
      'never to a router outside of tenants',
      [outsider, acme],
      ['github'],
      to('acme', 'tenant-acme', { workflow: 'build' }),
    ],
    [
      'AMB-144 to the system tenant without any route',
      [acme, outsider],
      ['gitlab'],
      to('system', 'windlass-system', {}),
    ],
    ['nowhere in a tenant that does not route it', [acme], ['github', 'globex'], to('globex', 'tenant-globex', {})],
    ['nowhere for a tenant that is not set up', [acme], ['github', 'initech'], to('initech', undefined, {})],
    ['nowhere by an inherited name', [acme], ['constructor', 'acme'], to('acme', 'tenant-acme', {})],
    [
      'ROUTE-05 ROUTE-06 to the router agent of the oldest router that has one',
      [later, acme, asking],
      ['gitlab', 'acme'],
      to('acme', 'tenant-acme', { routerAgent: 'triage', confidenceThreshold: 0.9 }),
    ],
    [
      'ROUTE-06 with a threshold of 0.7 where none is set',
      [aRouter('tenant-acme', { router_agent: 'triage' })],
      ['x', 'acme'],
      to('acme', 'tenant-acme', { routerAgent: 'triage', confidenceThreshold: 0.7 }),
    ],
    [
      'AMB-144 to the router agent of the system tenant without any route',
      [aRouter('windlass-system', { router_agent: 'triage' })],
      ['gitlab'],
      to('system', 'windlass-system', { routerAgent: 'triage' }),
    ],
  ])('%s', async (_title, known, [source, tenant], want) => {
    expect(await aTable(known).table.find(source, tenant)).toEqual(want);
  });

  it('is known without asking the server', async () => {
    const { table, asked } = aTable([acme]);
    await table.find('github');
    await table.find('github', 'acme');
    expect(asked).toEqual([]);
  });

  it.each([
    ['in the namespace of the tenant', 'acme', 'tenant-acme'],
    ['in all namespaces without one', undefined, ''],
  ])('is looked for %s before it is said to be unknown', async (_where, tenant, namespace) => {
    const { table, asked } = aTable([], [acme]);
    expect((await table.find('github', tenant)).routing.workflow).toBe('build');
    expect(asked).toEqual([namespace]);
  });

  it('is not looked for where no tenant is', async () => {
    const { table, asked } = aTable([], [acme]);
    await table.find('github', 'initech');
    expect(asked).toEqual([]);
  });
});

describe('whose a source is', () => {
  it.each([
    ['github', 'acme'],
    ['gitlab', 'system'],
  ])('%s is of %s', (source, tenant) => {
    expect(aTable([acme]).table.tenantOf(source)).toBe(tenant);
  });
});

describe('the tenant of a webhook that an administrator assigned', () => {
  const claimed = aRouter(
    'tenant-acme',
    { routes: { assigned: 'build', nowhere: 'build', 'my-ci': 'build' } },
    { claims: { assigned: '2026-01-01T00:00:01Z' } },
  );

  it('AMB-144 is the assignee, not the claimant of the source', async () => {
    const globex = aRouter('tenant-globex', { routes: { assigned: 'theirs' } });
    const { table } = aTable([claimed, globex]);
    expect(table.tenantOf('assigned')).toBe('globex');
    expect((await table.find('assigned')).routing.workflow).toBe('theirs');
    expect(aTable([claimed]).table.tenantOf('assigned')).toBe('globex');
  });

  it('is the claimant where the assignee is no tenant', () => {
    expect(aTable([claimed]).table.tenantOf('nowhere')).toBe('acme');
  });

  it('AMB-044 is the one that claimed the other spelling, and the route is that of the spelling', async () => {
    const late = aRouter('tenant-globex', { routes: { 'my.ci': 'theirs' } }, { created: '2026-02-01T00:00:00Z' });
    const { table } = aTable([claimed, late]);
    expect([table.tenantOf('my-ci'), table.tenantOf('my.ci')]).toEqual(['acme', 'acme']);
    expect((await table.find('my.ci')).routing.workflow).toBeUndefined();
  });
});

describe('a webhook of which the cache has the claim of before', () => {
  const theirs = aRouter('tenant-globex', { routes: { github: 'theirs' } }, { created: '2026-02-01T00:00:00Z' });
  const want = to('globex', 'tenant-globex', { workflow: 'theirs' });

  it.each<[title: string, now: StimulusRouter | undefined]>([
    ['the route is gone', aRouter('tenant-acme', { routes: { http_api: 'answer' } })],
    ['the router is gone', undefined],
    [
      'the router was made again without it',
      { ...aRouter('tenant-acme', {}), metadata: { ...acme.metadata, uid: 'new' } },
    ],
  ])('AMB-144 is of the tenant that claims its source now, where %s', async (_title, now) => {
    const changed = { 'tenant-acme/events': now };
    expect(await aTable([acme, theirs], [], changed).table.find('github')).toEqual(want);
    expect(await aTable([acme], [theirs], changed).table.find('github')).toEqual(want);
  });

  it('takes one read a second where the cache is right, and none for a stimulus that names its tenant', async () => {
    const { table, read, clock } = aTable([acme, theirs]);
    await table.find('github', 'globex');
    expect(read).toHaveLength(0);
    await table.find('github');
    clock.now += 1_000;
    await table.find('github');
    expect(read).toEqual(['tenant-acme/events']);
    clock.now += 1;
    await table.find('github');
    expect(read).toHaveLength(2);
  });

  it('is read at once where the watch has shown another version', async () => {
    const { table, read, routers } = aTable([acme, theirs]);
    await table.find('github');
    routers.apply({ type: 'MODIFIED', object: { ...acme, metadata: { ...acme.metadata, resourceVersion: '900' } } });
    await table.find('github');
    expect(read).toHaveLength(2);
  });
});

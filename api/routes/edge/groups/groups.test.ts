import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../crds/limits.ts';
import type { EdgeGroup } from '../../../../crds/schema/edge-group.ts';
import { slimEdgeGroup } from '../../../../lib/edge/slim-edge-group.ts';
import { createTimeCursor } from '../../../../lib/http/paging.ts';
import { pageBytes } from '../../../../lib/http/read-page.ts';
import { aGroup, aHost, nodeId } from '../../../../test/builders/edge-builder.ts';
import { edgeWorld, everyEdgeScope } from '../../../../test/builders/edge-world.ts';
import { countedNames } from '../../../../test/support/counted-names.ts';
import { EdgeGroupSummary, EdgeGroupView } from '../schema.ts';
import { createEdgeGroup, listEdgeGroups } from './contract.ts';

const linux = aHost(1, { tags: ['build'] });
const away = aHost(2, {}, { status: 'Disconnected' });
const revoked = aHost(3, { revoked: true });
const theirs = { ...aHost(4), metadata: { ...aHost(4).metadata, namespace: 'tenant-other' } };
const builders = aGroup(1, { name: 'builders', selector: { tags: [{ Has: 'build' }] }, pinned_members: [nodeId(2)] });
const all = aGroup(2, { name: 'all', selector: {} });
const foreign = { ...aGroup(3), metadata: { ...aGroup(3).metadata, namespace: 'tenant-other' } };
const world = () => edgeWorld([linux, away, revoked, theirs, builders, all, foreign]);
const id = builders.metadata.uid ?? '';

describe('the list of groups', () => {
  it('EDGE-REST-22 EDGE-RES-12 EDGE-RES-13 AMB-101 has the groups of the tenant, with the number of their hosts', async () => {
    const answer = (await world().call('listEdgeGroups')) as { items: object[] };
    expect(answer.items).toMatchObject([
      { name: 'all', selector: {}, resolved_member_count: 2 },
      { id, name: 'builders', pinned_members: [nodeId(2)], resolved_member_count: 2, created_at: expect.any(String) },
    ]);
    for (const item of answer.items) expect(Value.Check(EdgeGroupSummary, item)).toBe(true);
  });
});

interface ListEdgeGroupsReply {
  readonly items: readonly EdgeGroupSummary[];
  readonly next_cursor: string | null;
}

describe('pages of the list of groups', () => {
  const groups = Array.from({ length: 5 }, (_, at) => aGroup(at, { name: `${at % 2}`, selector: {} }));
  const list = async (query: object, objects = groups) =>
    (await edgeWorld(objects).call('listEdgeGroups', { query })) as ListEdgeGroupsReply;
  const idsOf = ({ items }: ListEdgeGroupsReply) => items.map((item) => item.id);

  it('have each group once, also those of one name, and without a limit there is one page', async () => {
    const all = await list({});
    expect(all.items).toHaveLength(groups.length);
    expect(all.next_cursor).toBeNull();
    const ids: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page: ListEdgeGroupsReply = await list({ limit: 2, ...(cursor != null && { cursor }) });
      expect(page.items.length).toBeLessThanOrEqual(2);
      ids.push(...idsOf(page));
      cursor = page.next_cursor;
    } while (cursor != null);
    expect(ids).toEqual(idsOf(all));
  });

  it('refuse the cursor of another list, and take one of the longest name', async () => {
    expect(await list({ cursor: createTimeCursor('hosts').encode({ at: '2026-01-01T00:00:00Z', id }) })).toMatchObject({
      code: 'invalid',
    });
    const wide = [
      aGroup(1, { name: '😀'.repeat(253), selector: {} }),
      aGroup(2, { name: '😀'.repeat(253), selector: {} }),
    ];
    const { next_cursor: cursor } = await list({ limit: 1 }, wide);
    expect(Value.Check(listEdgeGroups.query, { cursor })).toBe(true);
    expect((await list({ cursor }, wide)).items).toMatchObject([{ id: wide[1]?.metadata.uid }]);
  });

  it('end at 8 MiB, whatever the limit, and ask for room before groups are read that the cache has not in full', async () => {
    const large = Array.from({ length: 100 }, (_, at) =>
      aGroup(at, { name: `g${at}`, pinned_members: Array.from({ length: 1_000 }, (__, host) => nodeId(host)) }),
    );
    const slim = new Map(large.map((group) => [group.metadata.uid, slimEdgeGroup(group)]));
    const reserved: number[] = [];
    const read: (string | undefined)[] = [];
    const whole = async ({ metadata: { uid } }: EdgeGroup) => {
      read.push(uid);
      return large.find((group) => group.metadata.uid === uid);
    };
    const cluster = { edgeHosts: { list: () => [] }, edgeGroups: { list: () => [...slim.values()], whole } };
    const one = edgeWorld([], { cluster } as never);
    const ask = { query: {}, reserve: async (bytes: number) => void reserved.push(bytes) };
    const page = (await one.call('listEdgeGroups', ask)) as ListEdgeGroupsReply;
    expect(page.next_cursor).not.toBeNull();
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(9 * 1_048_576);
    expect(read).toEqual(page.items.map((item) => item.id));
    expect(reserved).toEqual([pageBytes]);
    const rest = (await one.call('listEdgeGroups', {
      ...ask,
      query: { cursor: page.next_cursor },
    })) as ListEdgeGroupsReply;
    expect(rest.items[0]?.name).not.toBe(page.items.at(-1)?.name);
  });
});

describe('a list of many groups', () => {
  const tags = Array.from({ length: limits.edgeTags }, (_, index) => `tag-${index}`);
  const selector = { tags: [{ AllOf: tags }] };
  const groups = Array.from({ length: 10 }, (_, number) => aGroup(number, { name: `g${number}`, selector }));

  it('reads each tag of a host once', async () => {
    const own = countedNames(tags);
    await edgeWorld([aHost(1, { tags: own.names }), ...groups]).call('listEdgeGroups');
    expect(own.reads()).toBe(tags.length);
  });

  it('lets other work go on in between, by hosts and terms', async () => {
    const hosts = Array.from({ length: 1_000 }, (_, number) => aHost(number, { tags }));
    const one = edgeWorld([...hosts, ...groups]);
    let turns = 0;
    const watch = (): void => {
      turns += 1;
      next = setImmediate(watch);
    };
    let next = setImmediate(watch);
    const answer = await one.call('listEdgeGroups');
    clearImmediate(next);
    expect(answer).toMatchObject({ items: groups.map(() => ({ resolved_member_count: hosts.length })) });
    expect(turns).toBeGreaterThanOrEqual(Math.floor((hosts.length * groups.length * tags.length) / 100_000));
  });
});

describe('one group', () => {
  it('EDGE-REST-24 EDGE-RES-14 has its hosts of now, whatever their state', async () => {
    const answer = await world().call('readEdgeGroup', { params: { id } });
    expect(answer).toMatchObject({
      resolved_members: [
        { node_id: nodeId(1), name: 'host 1', status: 'Connected' },
        { node_id: nodeId(2), name: 'host 2', status: 'Disconnected' },
      ],
    });
    expect(Value.Check(EdgeGroupView, answer)).toBe(true);
  });

  it.each([
    ['of another tenant', foreign.metadata.uid],
    ['that is unknown', '6c0a3c52-8a52-4a8e-9c0e-6d7d6a0c9f11'],
    ['that is a name of Kubernetes', 'group-1'],
    ['that is none', '..'],
  ])('EDGE-AUTH-12 is not found by an id %s', async (_title, other) => {
    for (const operation of ['readEdgeGroup', 'changeEdgeGroup', 'deleteEdgeGroup']) {
      const answer = await world().call(operation, { params: { id: other }, body: {} });
      expect(answer).toEqual({ error: 'Group not found', code: 'not_found' });
    }
  });
});

describe('making a group', () => {
  const make = (body: object) => world().call('createEdgeGroup', { body: { name: 'new', ...body } });

  it('EDGE-REST-23 AMB-100 answers it in full', async () => {
    expect(await make({ selector: { os: 'linux' }, pinned_members: [nodeId(3), nodeId(3)] })).toMatchObject({
      name: 'new',
      selector: { os: 'linux' },
      pinned_members: [nodeId(3)],
      resolved_members: [{ node_id: nodeId(1) }, { node_id: nodeId(2) }, { node_id: nodeId(3), status: 'Revoked' }],
    });
  });

  it('makes the object in the namespace of the tenant, and tells of it', async () => {
    const one = world();
    await one.call('createEdgeGroup', { body: { name: 'new', selector: {} } });
    expect(one.all().at(-1)).toMatchObject({ kind: 'EdgeGroup', metadata: { namespace: 'tenant-acme' } });
    expect(one.audited).toMatchObject([{ type: 'EdgeGroupCreated', by: { tenant: 'acme' } }]);
  });

  it.each([
    ['of another tenant', nodeId(4)],
    ['that is unknown', nodeId(99)],
    ['that is no id', '../../x'],
  ])('AMB-100 refuses a pinned host %s with 400', async (_title, node) => {
    expect(await make({ pinned_members: [nodeId(1), node] })).toMatchObject({
      code: 'invalid',
      details: [{ path: 'body.pinned_members', message: expect.stringContaining(node) }],
    });
  });

  it.each([{}, { selector: null }, { pinned_members: [] }])('refuses %j, which says no hosts', async (body) => {
    expect(await make(body)).toMatchObject({ code: 'invalid', details: [{ path: 'body.selector' }] });
  });

  it('answers 404 for a tenant that is not set up', async () => {
    const body = { name: 'new', selector: {} };
    expect(await world().call('createEdgeGroup', { body }, { tenant: 'nowhere' })).toMatchObject({
      error: 'Tenant not found',
    });
  });

  it.each<[selector: object, isValid: boolean]>([
    [{}, true],
    [
      { os: 'linux', tools: ['a'], tags: [{ AllOf: ['a', 'b'] }, { Has: 'c' }], labels: [{ Equals: { k: 'v' } }] },
      true,
    ],
    [{ tags: [{ AllOf: [] }] }, false],
    [{ tags: [{ Any: ['a'] }] }, false],
    [{ tags: [{ AllOf: ['a'], Has: 'b' }] }, false],
    [{ tags: [{}] }, false],
    [{ labels: [{ Equals: { a: '1', b: '2' } }] }, false],
    [{ labels: [{ Equals: {} }] }, false],
    [{ labels: [{ In: { a: '1' } }] }, false],
    [{ arch: 'x64' }, false],
  ])('EDGE-RES-15 EDGE-RES-16 EDGE-RES-17 EDGE-RES-18 takes the selector %j: %s', (selector, isValid) => {
    expect(Value.Check(createEdgeGroup.body.schema, { name: 'a', selector })).toBe(isValid);
  });
});

describe('changing a group', () => {
  const change = (body: object) => world().call('changeEdgeGroup', { params: { id }, body });

  it.each<[body: object, want: object]>([
    [{ name: 'b' }, { name: 'b', selector: { tags: [{ Has: 'build' }] }, pinned_members: [nodeId(2)] }],
    [{ selector: {} }, { name: 'builders', selector: {}, pinned_members: [nodeId(2)] }],
    [{ selector: null }, { selector: null, resolved_members: [{ node_id: nodeId(2) }] }],
    [{ pinned_members: [] }, { pinned_members: [], resolved_members: [{ node_id: nodeId(1) }] }],
    [{}, { name: 'builders' }],
  ])('EDGE-REST-25 by %j', async (body, want) => {
    expect(await change(body)).toMatchObject(want);
  });

  it('refuses hosts of others, and a group that says no hosts', async () => {
    expect(await change({ pinned_members: [nodeId(4)] })).toMatchObject({ code: 'invalid' });
    expect(await change({ selector: null, pinned_members: [] })).toMatchObject({ code: 'invalid' });
  });
});

describe('deleting a group', () => {
  it('EDGE-REST-26 answers without a body; a second time there is none', async () => {
    const { call } = world();
    expect(await call('deleteEdgeGroup', { params: { id } })).toBe('no_content');
    expect(await call('deleteEdgeGroup', { params: { id } })).toMatchObject({ error: 'Group not found' });
  });
});

describe('scopes of groups', () => {
  const request = { params: { id }, body: { name: 'new', selector: {} } };

  it.each(['createEdgeGroup', 'changeEdgeGroup', 'deleteEdgeGroup'])(
    'EDGE-AUTH-05 EDGE-AUTH-08 %s needs svc.edge.groups.write',
    async (operation) => {
      const ask = (scopes: readonly string[]) => world().call(operation, request, { scopes });
      expect(await ask(['svc.edge.groups.write'])).not.toHaveProperty('error');
      expect(await ask(everyEdgeScope.filter((one) => one !== 'svc.edge.groups.write'))).toMatchObject({
        error: 'forbidden',
      });
    },
  );

  it.each(['listEdgeGroups', 'readEdgeGroup'])('%s takes either of two scopes (ADR 0072)', async (operation) => {
    const either = ['svc.edge.hosts.read', 'svc.edge.groups.write'];
    const ask = (scopes: readonly string[]) => world().call(operation, request, { scopes });
    for (const scope of either) expect(await ask([scope])).not.toHaveProperty('error');
    expect(await ask(everyEdgeScope.filter((one) => !either.includes(one)))).toMatchObject({ error: 'forbidden' });
  });
});

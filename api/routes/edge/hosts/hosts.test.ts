import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../crds/limits.ts';
import { aGroup, aHost, nodeId } from '../../../../test/builders/edge-builder.ts';
import { edgeWorld, everyEdgeScope, failedTest } from '../../../../test/builders/edge-world.ts';
import { countTurns } from '../../../../test/support/count-turns.ts';
import type { RecentCommands } from '../../../../lib/edge/index.ts';
import { callerError } from '../../../../lib/caller-error.ts';
import { AppError } from '../../../../lib/errors.ts';
import { createTimeCursor } from '../../../../lib/http/paging.ts';
import { KubeError } from '../../../../lib/kube/index.ts';
import type { EdgeRoutesDeps } from '../index.ts';
import { changeEdgeHost, listEdgeHosts, pushEdgeConfig, tagEdgeHost } from './contract.ts';
import { EdgeHostSummary, EdgeHostView } from '../schema.ts';
import { changedTags } from './write.ts';

/** The API server's answer to a value that the CRD does not allow. */
const refusedValue = new KubeError(
  422,
  {
    reason: 'Invalid',
    message: 'spec.tags: too many',
    details: { causes: [{ reason: 'FieldValueTooMany', field: 'spec.tags', message: 'too many' }] },
  },
  { verb: 'patch', resource: 'edgehosts' },
);
const elsewhere = <T extends ReturnType<typeof aHost>>(host: T): T => ({
  ...host,
  metadata: { ...host.metadata, namespace: 'tenant-other' },
});

/** Labels that cannot be listed. */
const uncopied: Record<string, string> = new Proxy(
  { rack: '7' },
  {
    ownKeys: () => {
      throw new Error('copied');
    },
  },
);

const mine = aHost(1, { tags: ['build', 'linux'] });
function recent(number: number) {
  return { command_id: nodeId(number), tool: 'cmd.run', dispatched_at: '2026-01-01T00:00:00Z' };
}

const away = aHost(2, { tags: ['build'] }, { status: 'Disconnected', last_heartbeat_at: '2026-01-01T01:00:00Z' });
const theirs = elsewhere(aHost(3));
const world = (
  of: RecentCommands['of'] = async (tenant, id) => (tenant === 'acme' && id === nodeId(1) ? [recent(1)] : []),
) => edgeWorld([mine, away, theirs], { recent: { of } });
type EdgeHostPage = { readonly next_cursor: string | null };
const namesOf = (answer: unknown) => (answer as { items: { name: string }[] }).items.map(({ name }) => name);
const list = (query: object, caller: object = {}) =>
  world().call('listEdgeHosts', { query: { limit: 50, ...query } }, caller);

describe('the list of hosts', () => {
  it('EDGE-REST-15 EDGE-RES-01 EDGE-RES-02 EDGE-RES-03 EDGE-RES-05 EDGE-RES-06 EDGE-RES-07 EDGE-RES-08 EDGE-RES-09 has the fields of the list view', async () => {
    const answer = (await list({})) as { items: unknown[] };
    expect(answer.items[1]).toEqual({
      node_id: nodeId(1),
      name: 'host 1',
      tenant_id: 'acme',
      status: 'Connected',
      since: '2026-01-01T00:00:01Z',
      last_heartbeat_at: null,
      tags: ['build', 'linux'],
      capabilities: { os: 'linux', arch: 'x64', local_tools: ['cmd.run'], labels: { zone: 'a' } },
    });
    expect(answer).toMatchObject({ next_cursor: null });
    for (const item of answer.items) expect(Value.Check(EdgeHostSummary, item)).toBe(true);
  });

  it('EDGE-RES-07 has the last heartbeat that its relay knows, and the stored one of a host without a stream', async () => {
    const asked: string[][] = [];
    const last = async (uids: readonly string[]) => {
      asked.push([...uids]);
      return new Map([[mine.metadata.uid ?? '', '2026-01-01T02:00:00.000Z']]);
    };
    const one = edgeWorld([mine, away], { heartbeats: { last } });
    const answer = (await one.call('listEdgeHosts', { query: { limit: 50 } })) as { items: EdgeHostSummary[] };
    expect(answer.items.map(({ name, last_heartbeat_at: at }) => [name, at])).toEqual([
      ['host 2', '2026-01-01T01:00:00Z'],
      ['host 1', '2026-01-01T02:00:00.000Z'],
    ]);
    expect(await one.call('readEdgeHost', { params: { id: nodeId(1) } })).toMatchObject({
      last_heartbeat_at: '2026-01-01T02:00:00.000Z',
    });
    expect(asked).toEqual([[mine.metadata.uid], [mine.metadata.uid]]);
  });

  it("EDGE-RES-09 EDGE-RES-24 has the owner's limit for the time of a command, and how many of its facts are left out", async () => {
    const limited = aHost(4);
    if (limited.status?.capabilities === undefined) throw new Error('the builder has capabilities');
    const { status } = limited;
    const capabilities = { ...limited.status.capabilities, command_timeout_secs: 120, facts_left_out: 3 };
    const { call } = edgeWorld([{ ...limited, status: { ...status, capabilities } }], {
      recent: { of: async () => [] },
    });
    const answer = (await call('listEdgeHosts', { query: { limit: 50 } })) as { items: unknown[] };
    expect(answer.items).toMatchObject([{ capabilities: { command_timeout_secs: 120, facts_left_out: 3 } }]);
    for (const item of answer.items) expect(Value.Check(EdgeHostSummary, item)).toBe(true);
  });

  it('EDGE-AUTH-12 has those of the tenant alone', async () => {
    expect(namesOf(await list({}))).toEqual(['host 2', 'host 1']);
    expect(namesOf(await list({}, { tenant: 'other' }))).toEqual(['host 3']);
    expect(namesOf(await list({}, { team: { tenant: 'other', isAdmin: false } }))).toEqual(['host 3']);
  });

  it.each<[title: string, query: object, want: string[]]>([
    ['EDGE-REST-11 one tag', { tag: ['build'] }, ['host 2', 'host 1']],
    ['EDGE-REST-11 all of several tags', { tag: ['build', 'linux'] }, ['host 1']],
    ['EDGE-REST-11 a tag that none has', { tag: ['x'] }, []],
    ['EDGE-REST-12 a label', { label: ['zone=a'] }, ['host 2', 'host 1']],
    ['EDGE-REST-12 another value', { label: ['zone=b'] }, []],
    ['EDGE-REST-12 two values of one label', { label: ['zone=a', 'zone=b'] }, []],
    ['EDGE-REST-13 connected', { connected: true }, ['host 1']],
    ['AMB-097 not connected, which is no filter', { connected: false }, ['host 2', 'host 1']],
  ])('%s', async (_title, query, want) => {
    expect(namesOf(await list(query))).toEqual(want);
  });

  it.each([
    ['EDGE-REST-11 tags', { tag: Array.from({ length: limits.edgeTags }, (_, index) => `tag-${index}`) }],
    ['EDGE-REST-12 labels', { label: Array.from({ length: limits.edgeTags }, (_, index) => `zone=${index}`) }],
  ])('%s are looked for in turns of the event loop, without copies of labels', async (_title, query) => {
    const many = Array.from({ length: 4_000 }, (_, index) => aHost(index, { labels: uncopied }));
    const one = edgeWorld(many);
    const answer = () => one.call('listEdgeHosts', { query: { limit: 50, ...query } });
    expect(await countTurns(async () => expect(namesOf(await answer())).toEqual([]))).toBeGreaterThanOrEqual(3);
  });

  it.each([
    [{ label: ['zone'] }, false],
    [{ label: ['=a'] }, false],
    [{ label: ['zone='] }, true],
    [{ label: ['zone=a=b'] }, true],
    [{ limit: 0 }, false],
    [{ limit: 1 }, true],
    [{ limit: 201 }, true],
    [{ limit: 'abc' }, false],
    [{ connected: 'yes' }, false],
  ])('AMB-097 takes %j: %s', (query, isValid) => {
    expect(Value.Check(listEdgeHosts.query, { limit: 50, ...query })).toBe(isValid);
  });

  it('EDGE-REST-14 EDGE-TOOL-11 counts a limit of 201 as 200, and refuses a cursor that it has not given', async () => {
    const many = edgeWorld(Array.from({ length: 203 }, (_, index) => aHost(index)));
    const page = async (limit: number) => namesOf(await many.call('listEdgeHosts', { query: { limit } })).length;
    expect([await page(199), await page(200), await page(201)]).toEqual([199, 200, 200]);
    expect(await list({ cursor: 'x' })).toMatchObject({ code: 'invalid' });
  });

  it('AMB-097 refuses a cursor of another list, and no other list takes one of its own', async () => {
    const one = edgeWorld([aHost(1), aHost(2), aGroup(1)]);
    const { next_cursor: cursor } = (await one.call('listEdgeHosts', { query: { limit: 1 } })) as EdgeHostPage;
    const runs = createTimeCursor('fleet-runs').encode({ at: '2026-01-01T00:00:01Z', id: mine.metadata.uid ?? '' });
    const refused = { code: 'invalid', message: expect.stringContaining('query.cursor is not a cursor of this list') };
    expect(await one.call('listEdgeHosts', { query: { limit: 1, cursor: runs } })).toMatchObject(refused);
    expect(await one.call('listFleetRuns', { query: { limit: 1, cursor } })).toMatchObject(refused);
    expect(await one.call('listEdgeHosts', { query: { limit: 1, cursor } })).toMatchObject({ next_cursor: null });
  });

  it('EDGE-REST-16 visits every host exactly once', async () => {
    const many = edgeWorld(Array.from({ length: 23 }, (_, index) => aHost(index)));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await many.call('listEdgeHosts', { query: { limit: 5, cursor } });
      seen.push(...namesOf(answer));
      cursor = (answer as { next_cursor: string | null }).next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(23);
    expect(new Set(seen).size).toBe(23);
  });
});

const read = (id: string, caller: object = {}) => world().call('readEdgeHost', { params: { id } }, caller);

describe('one host', () => {
  it('EDGE-REST-17 EDGE-RES-05 EDGE-RES-10 has its enrollment and its last commands', async () => {
    const answer = await read(nodeId(1));
    expect(answer).toMatchObject({
      enrolled_at: '2026-01-01T00:00:01Z',
      recent_commands: [{ ...recent(1), outcome: null, duration_ms: null }],
    });
    expect(Value.Check(EdgeHostView, answer)).toBe(true);
  });

  it('EDGE-RES-10 is read while the bus is away, without its last commands', async () => {
    const absent = world(() => Promise.reject(new AppError('unavailable', 'no bus')));
    expect(await absent.call('readEdgeHost', { params: { id: nodeId(1) } })).toMatchObject({
      node_id: nodeId(1),
      recent_commands: [],
    });
  });

  it('EDGE-RES-11 never has keys, token ids or mount points', async () => {
    expect(JSON.stringify(await read(nodeId(1)))).not.toMatch(/AAAA|secret-jti|mnt/);
  });

  it('AMB-204 is Disconnected since its enrollment where it has never connected', async () => {
    const { status: _status, ...bare } = aHost(7);
    const answer = await edgeWorld([bare]).call('readEdgeHost', { params: { id: nodeId(7) } });
    expect(answer).toMatchObject({
      node_id: nodeId(7),
      status: 'Disconnected',
      since: '2026-01-01T00:00:07Z',
      enrolled_at: '2026-01-01T00:00:07Z',
      last_heartbeat_at: null,
    });
  });

  const [enrolled, before, now] = ['2026-01-01T00:00:01Z', '2026-01-01T12:00:00Z', '2026-01-02T00:00:00.500Z'];
  const written = '2026-01-01T18:00:00Z';

  it.each([
    ['before the enrolment', '2026-01-01T00:00:00.999Z', 'Connected', before],
    ['at the enrolment', enrolled, 'Connected', enrolled],
    ['after it', '2026-01-01T00:00:01.001Z', 'Connected', '2026-01-01T00:00:01.001Z'],
    ['just before now', '2026-01-02T00:00:00.499Z', 'Disconnected', '2026-01-02T00:00:00.499Z'],
    ['now', now, 'Connected', now],
    ['in a moment', '2026-01-02T00:00:00.501Z', 'Connected', before],
    ['that is none', 'yesterday', 'Connected', before],
    ['other than its status', '2026-01-01T00:00:02Z', 'Revoked', written],
  ] as const)(
    'EDGE-RES-06 is revoked since a time from its enrolment until now, or as its status says: its object has one %s',
    async (...row) => {
      const [_title, revokedAt, status, want] = row;
      const since = status === 'Revoked' ? written : before;
      const host = aHost(1, { revoked: true, revoked_at: revokedAt }, { status, since });
      const one = edgeWorld([host]);
      expect(await one.call('readEdgeHost', { params: { id: nodeId(1) } })).toMatchObject({
        status: 'Revoked',
        since: want,
      });
      expect(await one.call('listEdgeHosts')).toMatchObject({ items: [{ status: 'Revoked', since: want }] });
    },
  );

  it.each(['Connected', 'Disconnected', 'Unhealthy', 'Revoked'] as const)('EDGE-RES-04 can be %s', async (status) => {
    const answer = await edgeWorld([aHost(1, {}, { status })]).call('readEdgeHost', { params: { id: nodeId(1) } });
    expect(answer).toMatchObject({ status });
  });

  it.each([
    ['of another tenant', nodeId(3)],
    ['that is unknown', nodeId(99)],
    ['that is no id', '../host'],
    ['that is an uid', mine.metadata.uid ?? ''],
  ])('AMB-098 is not found by an id %s', async (_title, id) => {
    for (const operation of ['readEdgeHost', 'changeEdgeHost', 'tagEdgeHost', 'revokeEdgeHost']) {
      expect(await world().call(operation, { params: { id }, body: {} })).toEqual({
        error: 'Host not found',
        code: 'not_found',
      });
    }
  });
});

describe('changing a host', () => {
  const change = async (body: object, operation = 'changeEdgeHost') => {
    const one = world();
    return { answer: await one.call(operation, { params: { id: nodeId(1) }, body }), ...one };
  };

  it('EDGE-REST-18 AMB-100 renames it and keeps the rest', async () => {
    const { answer, audited } = await change({ name: 'new' });
    expect(answer).toMatchObject({ name: 'new', tags: ['build', 'linux'], enrolled_at: expect.any(String) });
    expect(audited).toMatchObject([{ type: 'EdgeHostChanged', subject: mine.metadata.uid }]);
  });

  it('EDGE-REST-19 replaces all tags, each once', async () => {
    expect((await change({ tags: ['b', 'a', 'b'] })).answer).toMatchObject({ name: 'host 1', tags: ['b', 'a'] });
    expect((await change({ tags: [] })).answer).toMatchObject({ tags: [] });
  });

  it('changes nothing where nothing is asked for', async () => {
    expect((await change({})).answer).toMatchObject({ name: 'host 1', tags: ['build', 'linux'] });
  });

  it.each<[title: string, body: object, want: string[]]>([
    ['adds', { add: ['x'] }, ['build', 'linux', 'x']],
    ['removes', { remove: ['build'] }, ['linux']],
    ['adds and removes at once', { add: ['x', 'y'], remove: ['linux'] }, ['build', 'x', 'y']],
    ['removes what it also adds', { add: ['x'], remove: ['x'] }, ['build', 'linux']],
    ['adds each once', { add: ['x', 'x', 'build'] }, ['build', 'linux', 'x']],
    ['takes a tag that is not there for removed', { remove: ['x'] }, ['build', 'linux']],
    ['takes nothing at all', {}, ['build', 'linux']],
  ])('EDGE-REST-20 AMB-099 %s', async (_title, body, want) => {
    expect((await change(body, 'tagEdgeHost')).answer).toMatchObject({ tags: want });
  });

  it('EDGE-REST-20 EDGE-REST-18 loses none of 16 changes at the same time', async () => {
    const { call } = world();
    const params = { id: nodeId(1) };
    const names = Array.from({ length: 16 }, (_, index) => `t${index}`);
    const answers = await Promise.all([
      ...names.map((name) => call('tagEdgeHost', { params, body: { add: [name] } })),
      call('changeEdgeHost', { params, body: { name: 'new' } }),
      call('drainEdgeHost', { params }),
      call('revokeEdgeHost', { params }),
    ]);
    expect(answers.filter((answer) => answer !== 'no_content' && !Value.Check(EdgeHostView, answer))).toEqual([]);
    const changed = (await call('readEdgeHost', { params })) as EdgeHostView;
    expect(changed).toMatchObject({ name: 'new', draining: true, status: 'Revoked' });
    expect(changed.tags.toSorted()).toEqual(['build', 'linux', ...names].toSorted());
  });

  it.each([
    ['others change each time', failedTest(), 'conflict', 'others change it at the same time; try again'],
    ['the cluster refuses', refusedValue, 'invalid', 'spec.tags: too many'],
  ])('EDGE-REST-20 answers as is right for a host that %s', async (_title, error, code, message) => {
    const { kube } = edgeWorld([mine]);
    const jsonPatch = async () => Promise.reject(error);
    const { call } = edgeWorld([mine], { kube: { ...kube, jsonPatch } as unknown as EdgeRoutesDeps['kube'] });
    const answer = await call('tagEdgeHost', { params: { id: nodeId(1) }, body: { add: ['x'] } });
    expect(callerError(answer)).toEqual({ code, message });
  });

  it('bounds tags at 50', () => {
    const tagged = (count: number) =>
      changedTags([], { add: Array.from({ length: count }, (_, index) => `t${index}`) });
    expect([tagged(49).length, tagged(50).length]).toEqual([49, 50]);
    expect(() => tagged(51)).toThrow('at most 50');
  });

  it('bounds the characters of tags and labels together, as the API server does', async () => {
    const long = aHost(9, { labels: { site: 'x'.repeat(limits.edgeTextsLength - 4 - limits.edgeTextCharge) } });
    const { call } = edgeWorld([aHost(1), long]);
    const tags = Array.from({ length: limits.edgeTags }, (_, at) => `${at}`.padEnd(limits.edgeTagLength, 'x'));
    const of = (number: number) => ({ params: { id: nodeId(number) } });
    for (const [operation, body] of [
      ['changeEdgeHost', { tags }],
      ['tagEdgeHost', { add: tags }],
    ] as const) {
      const answer = await call(operation, { ...of(1), body });
      expect(answer).toMatchObject({
        code: 'invalid',
        details: [{ message: expect.stringContaining('at most 4096') }],
      });
    }
    expect(await call('tagEdgeHost', { ...of(9), body: { add: ['one'] } })).toMatchObject({ code: 'invalid' });
    expect(await call('tagEdgeHost', { ...of(1), body: { add: tags.slice(0, 25) } })).toMatchObject({
      tags: tags.slice(0, 25),
    });
  });

  it.each([
    [{ name: '' }, false],
    [{ name: 'x'.repeat(253) }, true],
    [{ name: 'x'.repeat(254) }, false],
    [{ name: 'a\u0000' }, false],
    [{ tags: [''] }, false],
    [{ tags: ['a b/c'] }, true],
    [{ tags: ['x'.repeat(128)] }, true],
    [{ tags: ['x'.repeat(129)] }, false],
    [{ status: 'Connected' }, false],
  ])('takes %j: %s', (body, isValid) => {
    expect(Value.Check(changeEdgeHost.body.schema, body)).toBe(isValid);
  });

  it('takes lists of tags alone', () => {
    expect(Value.Check(tagEdgeHost.body.schema, { add: 'x' })).toBe(false);
    expect(Value.Check(tagEdgeHost.body.schema, { add: Array.from({ length: 51 }, () => 'x') })).toBe(false);
  });
});

describe('revoking a host', () => {
  it('EDGE-REST-21 EDGE-RES-06 AMB-098 answers without a body, twice, and the host is Revoked from then on', async () => {
    const { call, audited } = world();
    const params = { id: nodeId(1) };
    expect(await call('revokeEdgeHost', { params })).toBe('no_content');
    const now = { status: 'Revoked', since: '2026-01-02T00:00:00.500Z' };
    expect(await call('readEdgeHost', { params })).toMatchObject(now);
    expect(await call('revokeEdgeHost', { params })).toBe('no_content');
    expect(audited.map(({ type, act }) => [type, act])).toEqual([
      ['EdgeHostRevoked', 'revoke'],
      ['EdgeHostRevoked', 'revoke'],
    ]);
  });
});

describe('orders of operators', () => {
  const params = { id: nodeId(1) };
  const address = { tenant: 'acme', hostUid: mine.metadata.uid, nodeId: nodeId(1) };
  const ordered = (fails?: AppError) => {
    const orders: unknown[] = [];
    const order =
      (kind: string) =>
      async (...facts: unknown[]) => {
        orders.push([kind, ...facts]);
        if (fails !== undefined) throw fails;
      };
    const hostCommands = { drain: order('drain'), pushConfig: order('push'), shutdown: order('shutdown') };
    return { ...edgeWorld([mine, theirs], { hostCommands }), orders };
  };
  const offline = new AppError('unavailable', 'the host is offline', { reason: 'EdgeUnavailable' });

  it('EDGE-FLOW-13 EDGE-PROTO-35 drains a host: no run targets it, and its daemon receives the order', async () => {
    const { call, orders, audited } = ordered();
    const answer = await call('drainEdgeHost', { params });
    expect(answer).toMatchObject({ node_id: nodeId(1), status: 'Connected', draining: true });
    expect(Value.Check(EdgeHostView, answer)).toBe(true);
    expect(orders).toEqual([['drain', address]]);
    const body = { target: { Selector: {} } };
    const skipped = [{ node_id: nodeId(1), reason: 'Draining' }];
    expect(await call('previewFleet', { body })).toEqual({ resolved: [], skipped });
    expect(await call('resumeEdgeHost', { params })).not.toHaveProperty('draining');
    expect(await call('previewFleet', { body })).toMatchObject({ resolved: [{ node_id: nodeId(1) }], skipped: [] });
    expect(audited.map(({ type }) => type)).toEqual(['EdgeHostDrained', 'EdgeHostChanged']);
  });

  it('EDGE-FLOW-13 drains a host that is away: it receives the order when it comes back', async () => {
    expect(await ordered(offline).call('drainEdgeHost', { params })).toMatchObject({ draining: true });
  });

  it('EDGE-FLOW-12 EDGE-PROTO-34 pushes labels and security contexts, and keeps them out of the audit', async () => {
    const { call, orders, audited } = ordered();
    const config = { labels: { ring: null }, security_contexts: { default: { tools: ['secret.*'] } } };
    expect(await call('pushEdgeConfig', { params, body: { config, version: '7' } })).toEqual({ version: '7' });
    expect(orders).toEqual([['push', address, { delta: JSON.stringify(config), version: '7' }]]);
    expect(audited).toMatchObject([{ type: 'EdgeHostConfigPushed' }]);
    expect(JSON.stringify(audited)).not.toContain('secret');
  });

  it.each([
    [262_144, { version: '0000000000000001' }],
    [262_145, { code: 'invalid' }],
  ])('EDGE-FLOW-12 a change of %i bytes: %j', async (bytes, want) => {
    const frame = JSON.stringify({ labels: { a: '' } }).length;
    const config = { labels: { a: 'x'.repeat(bytes - frame) } };
    expect(await ordered().call('pushEdgeConfig', { params, body: { config } })).toMatchObject(want);
  });

  it.each([
    [{ config: { labels: {} } }, true],
    [{ config: {} }, false],
    [{ config: { mounts: [] } }, false],
    [{ config: { labels: {} }, version: '' }, false],
    [{}, false],
  ])('EDGE-FLOW-12 takes %j: %s', (body, isValid) => {
    expect(Value.Check(pushEdgeConfig.body.schema, body)).toBe(isValid);
  });

  it.each([
    [{}, 30_000],
    [{ grace_secs: 0 }, 0],
    [{ grace_secs: 3_600 }, 3_600_000],
  ])('EDGE-FLOW-15 EDGE-PROTO-36 shuts a daemon down with the grace of %j', async (body, ms) => {
    const { call, orders, audited } = ordered();
    expect(await call('shutDownEdgeHost', { params, body })).toBe('no_content');
    expect(orders).toEqual([['shutdown', address, ms]]);
    expect(audited).toMatchObject([{ type: 'EdgeHostShutDown' }]);
  });

  it('says that a host is offline which an order cannot reach, and finds none of another tenant', async () => {
    const bodies = [
      ['pushEdgeConfig', { config: { labels: {} } }],
      ['shutDownEdgeHost', {}],
    ] as const;
    for (const [operation, body] of bodies) {
      const { call, orders, audited } = ordered(offline);
      expect(await call(operation, { params, body })).toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/^the host is not connected/),
      });
      expect([orders.length, audited]).toEqual([1, []]);
      const foreign = await call(operation, { params: { id: nodeId(3) }, body });
      expect(foreign).toEqual({ error: 'Host not found', code: 'not_found' });
      expect(orders).toHaveLength(1);
    }
  });
});

describe('scopes of hosts', () => {
  it.each([
    ['EDGE-AUTH-03', 'listEdgeHosts', 'svc.edge.hosts.read'],
    ['EDGE-AUTH-03', 'readEdgeHost', 'svc.edge.hosts.read'],
    ['EDGE-AUTH-04', 'changeEdgeHost', 'svc.edge.hosts.write'],
    ['EDGE-AUTH-04', 'tagEdgeHost', 'svc.edge.hosts.write'],
    ['EDGE-AUTH-04', 'revokeEdgeHost', 'svc.edge.hosts.write'],
    ['EDGE-AUTH-04', 'drainEdgeHost', 'svc.edge.hosts.write'],
    ['EDGE-AUTH-04', 'resumeEdgeHost', 'svc.edge.hosts.write'],
    ['EDGE-AUTH-04', 'shutDownEdgeHost', 'svc.edge.hosts.write'],
    ['EDGE-AUTH-04', 'pushEdgeConfig', 'svc.edge.hosts.write'],
  ])('%s EDGE-AUTH-08 %s needs %s, and nothing of a host is shown without it', async (_id, operation, scope) => {
    const body = { config: { labels: {} } };
    const ask = (id: string, scopes: readonly string[]) =>
      world().call(operation, { params: { id }, body }, { scopes });
    expect(await ask(nodeId(1), [scope])).not.toHaveProperty('error');
    const others = everyEdgeScope.filter((one) => one !== scope);
    const refused = { error: 'forbidden', message: `this needs the scope ${scope}` };
    for (const id of [nodeId(1), nodeId(99)]) expect(await ask(id, others)).toMatchObject(refused);
  });
});

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../crds/limits.ts';
import type { EdgeSelector } from '../../crds/schema/edge-group.ts';
import type { FleetTarget } from '../../crds/schema/fleet-run.ts';
import { ownMember } from '../own-member.ts';
import { countTurns } from '../../test/support/count-turns.ts';
import { countedNames } from '../../test/support/counted-names.ts';
import {
  createMemberCounter,
  type FleetHost,
  type FleetHostState,
  groupMembers,
  matcherOf,
  resolveTarget,
} from './selector.ts';

type Fields = Partial<Omit<FleetHost, 'label'>> & { readonly labels?: Readonly<Record<string, string>> };

const host = (nodeId: string, { labels, ...fields }: Fields = {}): FleetHost => ({
  nodeId,
  uid: `uid-${nodeId}`,
  name: nodeId,
  status: 'Connected',
  os: 'linux',
  tools: ['cmd.run'],
  tags: [],
  label: (name) => ownMember(labels, name),
  ...fields,
});

const ids = async (target: FleetTarget, hosts: readonly FleetHost[], groups: Record<string, object> = {}) => {
  const { resolved, skipped } = await resolveTarget(target, { hosts, group: (id) => groups[id] });
  return { resolved: resolved.map(({ nodeId }) => nodeId), skipped };
};

const fleet = [
  host('c', { os: 'darwin', tags: ['web', 'eu'], labels: { tier: 'front' } }),
  host('a', { tags: ['web'], tools: ['cmd.run', 'fs.read'] }),
  host('b', { tags: ['db', 'eu'], labels: { tier: 'back' } }),
];

describe('a selector', () => {
  const cases: Record<string, { selector: EdgeSelector; want: string[] }> = {
    'AMB-101 that is empty matches every host': { selector: {}, want: ['a', 'b', 'c'] },
    'EDGE-RES-15 matches by os': { selector: { os: 'darwin' }, want: ['c'] },
    'EDGE-RES-15 matches by tools, all of them': { selector: { tools: ['cmd.run', 'fs.read'] }, want: ['a'] },
    'EDGE-RES-16 AllOf asks for every tag': { selector: { tags: [{ AllOf: ['web', 'eu'] }] }, want: ['c'] },
    'EDGE-RES-17 Has asks for one tag': { selector: { tags: [{ Has: 'web' }] }, want: ['a', 'c'] },
    'EDGE-RES-18 Equals compares one label': { selector: { labels: [{ Equals: { tier: 'back' } }] }, want: ['b'] },
    'EDGE-RES-15 is the conjunction of all that is given': {
      selector: { os: 'linux', tags: [{ Has: 'eu' }], labels: [{ Equals: { tier: 'front' } }] },
      want: [],
    },
    'EDGE-RES-18 does not match names that every object has': {
      selector: { labels: [{ Equals: { constructor: 'x' } }] },
      want: [],
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { selector, want }) => {
    expect((await ids({ Selector: selector }, fleet)).resolved).toEqual(want);
  });
});

describe('a target or a group over many hosts', () => {
  const tools = Array.from({ length: limits.edgeLocalTools }, (_, index) => `tool-${index}`);
  const hosts = Array.from({ length: 2_000 }, (_, index) => host(`n${index}`, { tools }));
  const selector = { tools: tools.slice(-1) };

  it('EDGE-RES-15 is resolved in turns of the event loop', async () => {
    const target = () => resolveTarget({ Selector: selector }, { hosts, group: () => undefined });
    expect(await countTurns(target)).toBeGreaterThanOrEqual(4);
    expect(await countTurns(() => groupMembers({ selector }, hosts))).toBeGreaterThanOrEqual(4);
  });

  it('looks no further than to the tool that is asked for', () => {
    const own = countedNames(tools);
    expect(matcherOf({ tools: tools.slice(0, 1) }).matches(host('a', { tools: own.names }))).toBe(true);
    expect(own.reads()).toBe(1);
  });

  it('needs each of many terms, however often a host names one', () => {
    const { matches } = matcherOf({ tools: tools.slice(0, 6) });
    expect(matches(host('a', { tools: tools.slice(0, 6) }))).toBe(true);
    expect(matches(host('a', { tools: [...tools.slice(0, 5), ...tools.slice(0, 5)] }))).toBe(false);
  });
});

describe('a selector of many terms', () => {
  const tools = Array.from({ length: limits.edgeLocalTools }, (_, index) => `tool-${index}`);
  const tags = Array.from({ length: limits.edgeTags }, (_, index) => `tag-${index}`);
  const selector = { tools: tools.slice(-20), tags: Array.from({ length: 20 }, () => ({ AllOf: tags.slice(-20) })) };

  it('reads each tool and tag of a host once', () => {
    const [ownTools, ownTags] = [countedNames(tools), countedNames(tags)];
    expect(matcherOf(selector).matches(host('a', { tools: ownTools.names, tags: ownTags.names }))).toBe(true);
    expect([ownTools.reads(), ownTags.reads()]).toEqual([tools.length, tags.length]);
  });

  const manyTags = Array.from({ length: limits.edgeSelectorItems }, (_, item) => ({
    AllOf: Array.from({ length: limits.edgeTags }, (__, tag) => `tag-${item}-${tag}`),
  }));
  const bare = Array.from({ length: 2_000 }, (_, index) => host(`n${index}`, { tools: [], tags: [] }));

  it('is looked for in turns of the event loop among hosts that have no tool and no tag', async () => {
    const target = { Selector: { tags: manyTags } };
    expect(await countTurns(() => resolveTarget(target, { hosts: bare, group: () => undefined }))).toBeGreaterThan(10);
    expect(await countTurns(() => groupMembers({ selector: target.Selector }, bare))).toBeGreaterThan(10);
  });

  it('has one look-up for all hosts', () => {
    const own = Array.from({ length: limits.edgeTags }, (_, tag) => `tag-0-${tag}`);
    const hosts = [...bare, host('own', { tags: own }), host('other', { tags: own.toReversed() })];
    const { matches } = matcherOf({ tags: manyTags.slice(0, 1) });
    let sets = 0;
    const Counted = class<T> extends Set<T> {
      constructor(values?: Iterable<T>) {
        super(values);
        sets += 1;
      }
    };
    vi.stubGlobal('Set', Counted);
    const found = hosts.filter(matches).map(({ nodeId }) => nodeId);
    vi.unstubAllGlobals();
    expect([found, sets]).toEqual([['own', 'other'], 0]);
  });

  it('looks at no name of a host that has fewer than are asked for', () => {
    const few = countedNames(tags.slice(0, -1));
    expect(matcherOf({ tags: [{ AllOf: tags }] }).matches(host('a', { tags: few.names }))).toBe(false);
    expect(few.reads()).toBe(0);
  });

  it('counts a tag that is given twice as one', () => {
    const counter = createMemberCounter([{ selector }]);
    const work = counter.add(host('a', { tools, tags }));
    expect([counter.counts, work]).toEqual([[1], 1 + 20 + 20 + tools.length + tags.length]);
  });
});

describe('a target', () => {
  it('EDGE-RES-19 Node names one host', async () => {
    expect(await ids({ Node: 'b' }, fleet)).toEqual({ resolved: ['b'], skipped: [] });
  });

  it('EDGE-RES-19 All is every host of the tenant', async () => {
    expect((await ids({ All: null }, fleet)).resolved).toEqual(['a', 'b', 'c']);
  });

  it('EDGE-RES-19 Group unites its selector and its pins', async () => {
    const groups = { g: { selector: { os: 'darwin' }, pinned_members: ['a', 'gone'] } };
    expect(await ids({ Group: 'g' }, fleet, groups)).toEqual({
      resolved: ['a', 'c'],
      skipped: [{ node_id: 'gone', reason: 'NotFound' }],
    });
  });

  it('EDGE-RES-19 Group without a selector is its pins alone', async () => {
    expect((await ids({ Group: 'g' }, fleet, { g: { pinned_members: ['b'] } })).resolved).toEqual(['b']);
  });

  it('EDGE-RES-19 an unknown group is refused', async () => {
    await expect(ids({ Group: 'g' }, fleet)).rejects.toThrow('target.Group: there is no group g');
  });

  it.each([
    ['Disconnected', 'Disconnected'],
    ['Unhealthy', 'Unhealthy'],
    ['Revoked', 'Revoked'],
  ] as const)('EDGE-REST-27 a host that is %s is skipped with the reason', async (status, reason) => {
    expect(await ids({ Node: 'a' }, [host('a', { status })])).toEqual({
      resolved: [],
      skipped: [{ node_id: 'a', reason }],
    });
  });

  it('EDGE-FLOW-13 a host that drains is skipped, with the reason of its status where it is away as well', async () => {
    const hosts = [host('a', { isDraining: true }), host('b', { isDraining: true, status: 'Unhealthy' }), host('c')];
    const skipped = [
      { node_id: 'a', reason: 'Draining' },
      { node_id: 'b', reason: 'Unhealthy' },
    ];
    expect(await ids({ All: null }, hosts)).toEqual({ resolved: ['c'], skipped });
    expect(await ids({ Node: 'a' }, hosts)).toEqual({ resolved: [], skipped: skipped.slice(0, 1) });
  });

  it('EDGE-REST-27 an unknown host is skipped', async () => {
    expect(await ids({ Node: 'z' }, fleet)).toEqual({ resolved: [], skipped: [{ node_id: 'z', reason: 'NotFound' }] });
  });

  it('EDGE-FLOW-18 revoked hosts belong to no selector', async () => {
    expect(await ids({ All: null }, [host('a', { status: 'Revoked' })])).toEqual({ resolved: [], skipped: [] });
  });

  const many = (count: number) => Array.from({ length: count }, (_, index) => host(`n${index}`));
  it('EDGE-RES-19 takes as many hosts as a run may have, and no more', async () => {
    expect((await ids({ All: null }, many(limits.fleetTargets))).resolved).toHaveLength(limits.fleetTargets);
    await expect(ids({ All: null }, many(limits.fleetTargets + 1))).rejects.toThrow('a run takes at most 10000');
  });
});

const states: readonly FleetHostState[] = ['Connected', 'Disconnected', 'Unhealthy', 'Revoked'];
const word = fc.constantFrom('a', 'b', 'c', 'd');
const anyHost = fc.record({
  nodeId: fc.string({ minLength: 1, maxLength: 3 }),
  status: fc.constantFrom(...states),
  os: fc.constantFrom('linux', 'darwin', undefined),
  tools: fc.array(word),
  tags: fc.array(word),
  labels: fc.dictionary(word, word),
});
const anyHosts = fc.uniqueArray(anyHost, { selector: ({ nodeId }) => nodeId, maxLength: 20 });
const anySelector: fc.Arbitrary<EdgeSelector> = fc.record(
  {
    os: fc.constantFrom('linux', 'darwin'),
    tools: fc.array(word, { maxLength: 2 }),
    tags: fc.array(fc.oneof(fc.record({ Has: word }), fc.record({ AllOf: fc.array(word, { minLength: 1 }) })), {
      maxLength: 2,
    }),
    labels: fc.array(
      fc.tuple(word, word).map(([name, value]) => ({ Equals: { [name]: value } })),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);

describe('resolving any selector over any hosts', () => {
  const world = (hosts: readonly Pick<FleetHost, 'nodeId'>[]) => hosts.map(({ nodeId, ...rest }) => host(nodeId, rest));

  it('EDGE-RES-15 gives every host that matches once, sorted, whatever order they come in', async () => {
    await fc.assert(
      fc.asyncProperty(anyHosts, anySelector, async (given, selector) => {
        const hosts = world(given);
        const once = await ids({ Selector: selector }, hosts);
        expect(await ids({ Selector: selector }, hosts.toReversed())).toEqual(once);
        const all = [...once.resolved, ...once.skipped.map(({ node_id: id }) => id)];
        const want = hosts.filter((one) => one.status !== 'Revoked' && matcherOf(selector).matches(one));
        expect(new Set(all)).toEqual(new Set(want.map(({ nodeId }) => nodeId)));
        expect(all).toHaveLength(want.length);
        expect(once.resolved).toEqual([...once.resolved].sort((a, b) => (a < b ? -1 : 1)));
      }),
    );
  });

  it('EDGE-RES-15 matches fewer hosts or the same with each thing that is asked for besides', async () => {
    await fc.assert(
      fc.asyncProperty(anyHosts, anySelector, word, async (given, selector, tag) => {
        const hosts = world(given);
        const more = { ...selector, tags: [...(selector.tags ?? []), { Has: tag }] };
        const wide = new Set((await ids({ Selector: selector }, hosts)).resolved);
        expect((await ids({ Selector: more }, hosts)).resolved.every((id) => wide.has(id))).toBe(true);
      }),
    );
  });

  it('EDGE-RES-14 the members of a group are those that the group as a target resolves to or skips', async () => {
    await fc.assert(
      fc.asyncProperty(anyHosts, anySelector, async (given, selector) => {
        const hosts = world(given);
        const pinned = hosts.slice(0, 2).map(({ nodeId }) => nodeId);
        const group = { selector, pinned_members: pinned };
        const { resolved, skipped } = await ids({ Group: 'g' }, hosts, { g: group });
        const members = (await groupMembers(group, hosts)).map(({ nodeId }) => nodeId);
        const counter = createMemberCounter([group, {}]);
        for (const one of hosts) counter.add(one);
        expect(counter.counts).toEqual([members.length, 0]);
        expect(new Set(members)).toEqual(new Set([...resolved, ...skipped.map(({ node_id: id }) => id)]));
      }),
    );
  });
});

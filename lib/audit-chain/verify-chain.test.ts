import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ChainedEvent,
  type ChainEnd,
  chainStart,
  hashOf,
  linked,
  type UnlinkedEvent,
  unlinkedEvent,
  writtenEvent,
} from './chained-event.ts';
import { type Checkpoint, keyIdOf, keyRing, publicHalf, signCheckpoint } from './checkpoint.ts';
import { verify } from './verify-chain.ts';

const key = generateKeyPairSync('ed25519').privateKey;
const keys = new Map([[keyIdOf(key), publicHalf(key)]]);

/** The event as a reader finds it. */
const placed = (event: UnlinkedEvent, lane: string, end: ChainEnd): ChainedEvent =>
  JSON.parse(linked(writtenEvent(event), lane, end).text) as ChainedEvent;

/** Events 1 to `count` of one chain, a second apart. */
function aChain(count: number, tenant = 'acme', lane = 'l0'): ChainedEvent[] {
  let end: ChainEnd = chainStart;
  return Array.from({ length: count }, (_, index) => {
    const time = new Date(Date.parse('2026-01-01T00:00:00Z') + index * 1_000).toISOString();
    const event = { type: 'SessionCreated', tenant, subject: 'kim', data: { index } } as const;
    const next = placed(unlinkedEvent(event, `e${index}`, time), lane, end);
    end = next;
    return next;
  });
}

function vouch({ tenant = '', lane, sequence, hash, time }: ChainedEvent, by = key): Checkpoint {
  return signCheckpoint({ tenant, lane, sequence, hash, time, key_id: keyIdOf(by) }, by);
}

const chain = aChain(6);
function at(index: number): ChainedEvent {
  const event = chain[index];
  if (event === undefined) throw new Error(`no event ${index}`);
  return event;
}
const checkpoints = [vouch(at(2)), vouch(at(4))];
const problemsOf = (events: readonly unknown[], retainedFrom?: string, given: readonly unknown[] = checkpoints) =>
  verify(events, { checkpoints: given, keys, ...(retainedFrom && { retainedFrom }) }).problems.map(
    ({ kind, sequence }) => `${kind} ${sequence}`,
  );
const changed = (event: ChainedEvent, fields: Partial<ChainedEvent>): ChainedEvent => ({ ...event, ...fields });
/** The rest of a chain written anew behind a changed event, as one who may write to the store could. */
function rewritten(from: number): ChainedEvent[] {
  let end: ChainEnd = at(from - 1);
  const rest = chain.slice(from).map((event) => {
    const { lane, sequence: _sequence, previous: _previous, hash: _hash, ...unlinked } = event;
    const next = placed({ ...unlinked, subject: 'mallory' }, lane, end);
    end = next;
    return next;
  });
  return [...chain.slice(0, from), ...rest];
}

describe('an event that is stored', () => {
  it.each<[string, Record<string, unknown>]>([
    ['flat data', { tool: 'orders.get', attempts: 1, ok: true, missing: undefined, 'é"\n\ud800': '\u0000' }],
    ['a prototype', JSON.parse('{"__proto__":"x","a":1}') as Record<string, unknown>],
    ['numbers that are none', { nan: Number.NaN, minus: -0 }],
    ['nested data and dates', { list: [1, undefined], at: new Date(0) }],
    ['long texts', { long: 'x'.repeat(5_000), short: 'y' }],
  ])('holds %s as JSON gives it back', (_title, data) => {
    const event = { type: 'SessionCreated', tenant: 'acme', subject: 'kim', data } as const;
    const stored = placed(unlinkedEvent(event, 'e', '2026-01-01T00:00:00.000Z'), 'l0', chainStart);
    const given = JSON.parse(JSON.stringify(data)) as Record<string, unknown>;
    if ('long' in given) given['long'] = stored.data['long'];
    expect(new Map(Object.entries(stored.data))).toEqual(new Map(Object.entries(given)));
    expect(stored.hash).toBe(hashOf(stored));
  });

  it('has the hash of its canonical JSON, whatever it holds', () => {
    const texts = fc.string({ unit: 'binary' });
    const events = fc.record({
      subject: texts,
      tenant: fc.option(texts, { nil: undefined }),
      data: fc.dictionary(texts, fc.jsonValue()),
    });
    fc.assert(
      fc.property(events, texts, fc.option(texts, { nil: undefined }), (parts, lane, invocationId) => {
        const event = {
          type: 'SessionCreated',
          ...parts,
          ...(invocationId === undefined ? {} : { invocationId }),
        } as const;
        const unlinked = unlinkedEvent(event, 'e', '2026-01-01T00:00:00.000Z');
        const stored = placed(unlinked, lane, chainStart);
        expect(stored.hash).toBe(hashOf(stored));
        const { lane: where, sequence, previous, hash: _hash, ...rest } = stored;
        expect([rest, where, sequence, previous]).toEqual([unlinked, lane, 1, chainStart.hash]);
      }),
    );
  });
});

describe('verify', () => {
  it.each<[string, readonly unknown[], string[]]>([
    ['a whole chain', chain, []],
    ['no event, which a checkpoint contradicts', [], ['cut 1']],
    ['a chain whose oldest were dropped by age', chain.slice(3), []],
    ['a chain without one in the middle', [...chain.slice(0, 2), ...chain.slice(3)], ['missing 3']],
    ['a chain without two in the middle', [...chain.slice(0, 1), ...chain.slice(3)], ['missing 2']],
    ['two that changed places', [at(0), at(2), at(1), ...chain.slice(3)], ['missing 2', 'out_of_order 2']],
    ['an event twice', [at(0), ...chain], ['out_of_order 1']],
    ['an event with other data', [at(0), changed(at(1), { data: {} }), ...chain.slice(2)], ['changed 2']],
    ['an event with another type', [at(0), changed(at(1), { type: 'X' }), ...chain.slice(2)], ['changed 2']],
    [
      'an event of another tenant',
      [at(0), changed(at(1), { tenant: 'b' }), ...chain.slice(2)],
      ['changed 2', 'missing 2'],
    ],
    ['a chain that was written anew from its second event', rewritten(1), ['replaced 3', 'replaced 5']],
    ['an end that was written anew behind the newest checkpoint', rewritten(5), []],
    ['a chain that ends with its newest checkpoint', chain.slice(0, 5), []],
    ['a chain that ends one before its newest checkpoint', chain.slice(0, 4), ['cut 5']],
    ['what is no event', [...chain, { lane: 1 }, null], ['unreadable 0', 'unreadable 0']],
  ])('GW-EVT finds in %s', (_what, events, want) => {
    expect(problemsOf(events)).toEqual(want);
  });

  it.each([
    ['which the record does not say', undefined],
    ['at an older event of another chain', '2026-01-01T00:00:00.000Z'],
  ])(
    'GW-EVT proves a chain whose head is gone since its own oldest event alone, where the store begins %s',
    (_where, retainedFrom) => {
      const other = aChain(1, 'other');
      const of = (events: readonly ChainedEvent[], given: readonly Checkpoint[]) =>
        verify(events, { checkpoints: given, keys, ...(retainedFrom && { retainedFrom }) });
      const whole = { first: 1, since: '2026-01-01T00:00:00.000Z' };
      expect(of([...other, ...chain], []).chains).toEqual([
        { tenant: 'other', lane: 'l0', last: 1, vouched: 0, ...whole },
        { tenant: 'acme', lane: 'l0', last: 6, vouched: 0, ...whole },
      ]);
      const rest = { tenant: 'acme', lane: 'l0', first: 4, last: 6, since: '2026-01-01T00:00:03.000Z' };
      const wasThere = { sequence: 3, time: '2026-01-01T00:00:02.000Z' };
      for (const [given, want] of [
        [[], { vouched: 0 }],
        [[vouch(at(3))], { vouched: 4 }],
        [[vouch(at(1)), vouch(at(2))], { vouched: 0, gone: wasThere }],
        [[vouch(at(2)), vouch(at(4))], { vouched: 5, gone: wasThere }],
      ] as const) {
        const report = of([...other, ...chain.slice(3)], given);
        expect(report).toMatchObject({ problems: [], gone: [] });
        expect(report.chains[1]).toEqual({ ...rest, ...want });
      }
    },
  );

  it('GW-EVT finds that the event before the oldest is another than its checkpoint says', () => {
    const anew = rewritten(2).slice(3);
    expect(problemsOf(anew, undefined, [vouch(at(1))])).toEqual([]);
    expect(problemsOf(anew, undefined, [vouch(at(2))])).toEqual(['replaced 4']);
    expect(problemsOf(chain.slice(3), undefined, [vouch(at(2))])).toEqual([]);
  });

  it('tells chains of tenants and lanes apart', () => {
    const mixed = [aChain(3, 'a'), aChain(3, 'b'), aChain(3, 'a', 'l1')].flat();
    const report = verify(mixed, { checkpoints: [], keys });
    expect(report).toMatchObject({ events: 9, problems: [] });
    expect(report.chains.map(({ tenant, lane, first, last }) => [tenant, lane, first, last])).toEqual([
      ['a', 'l0', 1, 3],
      ['b', 'l0', 1, 3],
      ['a', 'l1', 1, 3],
    ]);
  });

  it.each([
    ['2026-01-01T00:00:04.000Z', ['cut 1']],
    ['2026-01-01T00:00:04.001Z', []],
  ])('excuses a chain that is gone only where all that is retained, from %s, is younger', (from, want) => {
    expect(problemsOf([], from)).toEqual(want);
    const gone = { tenant: 'acme', lane: 'l0', sequence: 5, time: '2026-01-01T00:00:04.000Z' };
    const report = verify([], { checkpoints, keys, retainedFrom: from });
    expect(report.gone).toEqual(want.length === 0 ? [gone] : []);
  });

  it('GW-EVT trusts checkpoints of each key that it is given, so that a changed key leaves the earlier ones valid', () => {
    const former = generateKeyPairSync('ed25519').privateKey;
    const given = [vouch(at(2), former), vouch(at(4))];
    const ring = keyRing([key, former]);
    expect(verify(chain, { checkpoints: given, keys: ring })).toMatchObject({ problems: [], chains: [{ vouched: 5 }] });
    const cut = verify(chain.slice(0, 1), { checkpoints: given.slice(0, 1), keys: ring });
    expect(cut.problems).toMatchObject([{ kind: 'cut', sequence: 2 }]);
  });

  it('counts no checkpoint that an unknown key signed, or that was changed', () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const raised = { ...vouch(at(2)), sequence: 2 };
    const renamed = { ...vouch(at(5), other), key_id: keyIdOf(key) };
    expect(problemsOf(chain, undefined, [vouch(at(5), other)])).toEqual(['key_unknown 6']);
    for (const forged of [raised, renamed, { ...vouch(at(2)), signature: '' }])
      expect(problemsOf(chain, undefined, [forged])).toEqual([`checkpoint_forged ${forged.sequence}`]);
    expect(problemsOf(chain, undefined, [null, {}])).toEqual(['unreadable 0', 'unreadable 0']);
  });

  it('says where two checkpoints of one place vouch for different events, whatever key signed them', () => {
    const other = rewritten(4)[4];
    if (other === undefined) throw new Error('no other history');
    const former = generateKeyPairSync('ed25519').privateKey;
    const ring = keyRing([key, former]);
    for (const [first, second] of [
      [vouch(at(4)), vouch(other)],
      [vouch(other), vouch(at(4))],
      [vouch(at(4)), vouch(other, former)],
    ]) {
      const { problems } = verify(chain, { checkpoints: [first, second], keys: ring });
      expect(problems).toContainEqual(expect.objectContaining({ kind: 'contradicted', tenant: 'acme', sequence: 5 }));
    }
    // One that is signed again, by another key, says the same.
    expect(
      verify(chain, { checkpoints: [vouch(at(4)), vouch(at(4)), vouch(at(4), former)], keys: ring }).problems,
    ).toEqual([]);
    // Another lane or tenant makes it another place.
    const apart = [aChain(5, 'acme', 'l1'), aChain(5, 'rival')].map((events) => events[4]);
    const all = [...aChain(5, 'acme', 'l1'), ...aChain(5, 'rival'), ...chain];
    const checkpointsOfAll = [...apart, at(4)].flatMap((event) => (event === undefined ? [] : [vouch(event)]));
    expect(verify(all, { checkpoints: checkpointsOfAll, keys }).problems).toEqual([]);
  });
});

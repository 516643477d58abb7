import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type ChainedEvent,
  type ChainEnd,
  chainStart,
  linked,
  unlinkedEvent,
  writtenEvent,
} from '../../../lib/audit-chain/chained-event.ts';
import { keyIdOf, pemOf, signCheckpoint } from '../../../lib/audit-chain/checkpoint.ts';
import { runCli } from '../../../test/support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'audit-verify-'));
afterAll(() => rmSync(folder, { recursive: true }));

const key = generateKeyPairSync('ed25519').privateKey;
const at = (day: number): string => `2026-01-${String(day).padStart(2, '0')}T00:00:00.000Z`;

/** Events of one chain, a day apart. */
function aChain(tenant: string, count: number, firstDay = 1): ChainedEvent[] {
  let end: ChainEnd = chainStart;
  return Array.from({ length: count }, (_, index) => {
    const event = { type: 'SessionCreated', tenant, subject: 'kim', data: { index } } as const;
    const written = writtenEvent(unlinkedEvent(event, `${tenant}-${index}`, at(firstDay + index)));
    const next = JSON.parse(linked(written, 'l0', end).text) as ChainedEvent;
    end = next;
    return next;
  });
}

const vouch = ({ tenant = '', lane, sequence, hash, time }: ChainedEvent) =>
  signCheckpoint({ tenant, lane, sequence, hash, time, key_id: keyIdOf(key) }, key);

interface Saved {
  readonly events: readonly ChainedEvent[];
  /** Events that have a checkpoint. */
  readonly vouched?: readonly ChainedEvent[];
  readonly from?: string | null;
}

/** Verifies a record in the form that `--save` writes. */
function verified({ events, vouched = [], from = null }: Saved, ...more: string[]) {
  const proof = { checkpoints: vouched.map(vouch), public_key: pemOf(key), retained_from: from };
  const file = join(folder, 'audit.jsonl');
  writeFileSync(file, [proof, ...events].map((value) => `${JSON.stringify(value)}\n`).join(''));
  return runCli(['gateway', 'audit', 'verify', '--file', file, ...more], {});
}

describe('windlass gateway audit verify', () => {
  const old = aChain('other', 1);
  const chain = aChain('acme', 10);
  const rest = chain.slice(6);

  it.each([
    ['which the record does not say', null],
    ['at an older event of another chain', at(1)],
  ])('GW-EVT proves no chain since before its own oldest event, where the store begins %s', async (_where, from) => {
    const { code, out } = await verified({ events: [...old, ...rest], from });
    expect([code, out.split('\n')]).toEqual([
      0,
      [
        `tenant other lane l0: events 1 to 1, proven since ${at(1)}; no checkpoint vouches for it yet`,
        `tenant acme lane l0: events 7 to 10, proven since ${at(7)}; no checkpoint vouches for it yet`,
        'tenant acme lane l0: events 1 to 6 are gone by age, share or deletion, and the chain cannot tell which',
        `5 events in 2 chains: none is missing or changed in these ranges (checkpoints of key ${keyIdOf(key)})`,
      ],
    ]);
  });

  it('GW-EVT says of which events that are gone a checkpoint says that they were there', async () => {
    const vouched = chain.filter(({ sequence }) => [2, 5, 9].includes(sequence));
    const { code, out } = await verified({ events: rest, vouched });
    expect(code).toBe(0);
    expect(out).toContain(`events 7 to 10, proven since ${at(7)}; a checkpoint vouches for it up to 9\n`);
    expect(out).toContain(`cannot tell which; a checkpoint says that event 5 of ${at(5)} was there\n`);
    expect((await verified({ events: chain.slice(1) })).out).toContain('lane l0: event 1 is gone by age');
  });

  it('GW-EVT names a chain of which nothing is retained', async () => {
    const { code, out } = await verified({ events: aChain('other', 1, 20), vouched: chain.slice(9), from: at(20) });
    expect(code).toBe(0);
    const gone = `tenant acme lane l0: no event is retained; a checkpoint says that event 10 of ${at(10)} was there`;
    expect(out).toContain(gone);
  });

  it('GW-EVT shows the same as JSON', async () => {
    const { out } = await verified({ events: rest, vouched: chain.slice(4, 5), from: at(1) }, '-o', 'json');
    const gone = { sequence: 5, time: at(5) };
    const wanted = { tenant: 'acme', lane: 'l0', first: 7, last: 10, since: at(7), vouched: 0, gone };
    expect(JSON.parse(out)).toMatchObject({ whole: true, events: 4, chains: [wanted], gone: [], problems: [] });
  });
});

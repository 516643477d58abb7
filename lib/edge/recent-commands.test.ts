import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { createRecentCommands, type RecentCommands } from './index.ts';

let nats: TestBus;
let recent: RecentCommands;

beforeAll(async () => {
  nats = await startTestBus();
  recent = createRecentCommands({ bus: await nats.connected() });
}, 60_000);
afterAll(() => nats.stop());

const at = (number: number): string => new Date(1_790_000_000_000 + number).toISOString();
const host = { tenant: 'acme', node_id: 'n' };
const send = (number: number, of = host): void =>
  recent.sent({ ...of, command_id: `c-${number}`, tool: 'cmd.run', dispatched_at: at(number) });

/** Nothing waits for a message of the list. */
const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 10_000 });

describe('the last commands of a host', () => {
  it('EDGE-RES-10 have how they ended, each outcome, and nothing of another host or tenant', async () => {
    for (const number of [1, 2, 3, 4, 5]) send(number);
    send(6, { ...host, tenant: 'other' });
    const ok = { outcome: 'ok', exit_code: 1, duration_ms: 12 } as const;
    recent.ended({ ...host, command_id: 'c-1', result: ok, ended_at: at(50) });
    recent.ended({
      ...host,
      command_id: 'c-1',
      result: { outcome: 'cancelled', reason: 'late' },
      ended_at: at(50),
    });
    recent.ended({
      ...host,
      command_id: 'c-2',
      result: { outcome: 'err', code: 'Denied', message: '', exit_code: 1 },
      ended_at: at(52),
    });
    recent.ended({
      ...host,
      command_id: 'c-3',
      result: { outcome: 'timed_out', deadline_ms: 5 },
      ended_at: at(53),
    });
    recent.ended({ ...host, command_id: 'c-4', result: { outcome: 'cancelled', reason: '' }, ended_at: at(1) });
    recent.ended({ ...host, command_id: 'never-sent', result: ok, ended_at: at(9) });
    const tool = 'cmd.run';
    const want = [
      { command_id: 'c-5', tool, dispatched_at: at(5) },
      { command_id: 'c-4', tool, dispatched_at: at(4), outcome: 'cancelled', duration_ms: 0 },
      { command_id: 'c-3', tool, dispatched_at: at(3), outcome: 'timed_out', duration_ms: 50 },
      { command_id: 'c-2', tool, dispatched_at: at(2), outcome: 'err', duration_ms: 50 },
      { command_id: 'c-1', tool, dispatched_at: at(1), outcome: 'ok', duration_ms: 12 },
    ];
    await eventually(async () => expect(await recent.of('acme', 'n')).toEqual(want));
    expect(await recent.of('acme', 'other')).toEqual([]);
  });

  it('EDGE-RES-10 may come as one message, once they have ended', async () => {
    const of = { tenant: 'acme', node_id: 'quick' };
    const sent = { tool: 'cmd.run', dispatched_at: at(1) };
    const result = { outcome: 'timed_out', deadline_ms: 5 } as const;
    recent.ended({ ...of, command_id: 'c-1', result, ended_at: at(31), sent });
    const want = [{ command_id: 'c-1', ...sent, outcome: 'timed_out', duration_ms: 30 }];
    await eventually(async () => expect(await recent.of('acme', 'quick')).toEqual(want));
  });

  it('AMB-115 are the last twenty where one that ran for long ends behind them', async () => {
    const of = { tenant: 'acme', node_id: 'long' };
    const ok = { outcome: 'ok', exit_code: 0, duration_ms: 1 } as const;
    const end = (number: number): void => {
      const sent = { tool: 'cmd.run', dispatched_at: at(number) };
      recent.ended({ ...of, command_id: `c-${number}`, result: ok, ended_at: at(100), sent });
    };
    const ids = async (): Promise<string[]> => (await recent.of('acme', 'long')).map(({ command_id: id }) => id);
    for (let number = 0; number <= 20; number += 1) {
      send(number, of);
      if (number > 0) end(number);
    }
    end(0);
    const last = Array.from({ length: limits.hostRecentCommands }, (_, index) => `c-${20 - index}`);
    await eventually(async () => expect(await ids()).toEqual(last));
    // Twenty still where more of them end at last than the stream holds beside.
    for (let number = 30; number < 90; number += 1) send(number, of);
    for (let number = 30; number < 90; number += 1) end(number);
    const ended = { command_id: 'c-89', outcome: 'ok' };
    await eventually(async () => expect((await recent.of('acme', 'long'))[0]).toMatchObject(ended));
    expect(await ids()).toHaveLength(limits.hostRecentCommands);
  });

  it('AMB-115 are twenty, the newest', async () => {
    const many = { tenant: 'acme', node_id: 'many' };
    const ids = async (): Promise<string[]> => (await recent.of('acme', 'many')).map(({ command_id: id }) => id);
    for (let number = 1; number < limits.hostRecentCommands; number += 1) send(number, many);
    await eventually(async () => expect(await ids()).toHaveLength(19));
    send(20, many);
    await eventually(async () => expect(await ids()).toHaveLength(20));
    send(21, many);
    const want = Array.from({ length: 20 }, (_, index) => `c-${21 - index}`);
    await eventually(async () => expect(await ids()).toEqual(want));
  });
});

import { describe, expect, it } from 'vitest';
import type { HostRequest } from '../lib/edge/index.ts';
import { createManualClock } from '../test/support/manual-clock.ts';
import { SentCommands } from './sent-commands.ts';

const host = { tenant: 'acme', nodeId: 'n' };
const record = { run: 'r', node_id: 'n', tenant: 'acme', tool: 'cmd.run', deadline: '2026-01-01T00:01:00.000Z' };
const order = (commandId: string): Extract<HostRequest, { kind: 'invoke' }> => ({
  kind: 'invoke',
  host: { ...host, hostUid: 'u' },
  epoch: 1,
  command: { commandId, run: 'r', tool: 'cmd.run', args: {}, context: 'd', token: 't', deadlineMs: 1_000 },
  claim: { record, revision: 7 },
});

function begin() {
  const clock = createManualClock();
  const listed: string[] = [];
  const stopping = new AbortController();
  const sent = ({ command_id: id }: { readonly command_id: string }): void => void listed.push(id);
  return { clock, listed, stopping, sent: new SentCommands({ clock, recent: { sent }, stopping: stopping.signal }) };
}

describe('commands that a relay has sent', () => {
  it('are known to their own host alone, with their claim, until they have ended', () => {
    const { sent } = begin();
    sent.add(order('c'));
    expect(sent.take('c', { ...host, nodeId: 'other' })).toBeUndefined();
    expect(sent.take('c', { ...host, tenant: 'umbra' })).toBeUndefined();
    expect(sent.find('c', host)?.claim).toEqual({ record, revision: 7 });
    expect(sent.take('c', host)).toMatchObject({ claim: { revision: 7 }, begun: { tool: 'cmd.run' } });
    expect(sent.take('c', host)).toBeUndefined();
    expect(sent.hasEnded('c', host)).toBe(false);
    sent.noteEnded('c', host);
    expect(sent.hasEnded('c', host)).toBe(true);
    expect(sent.hasEnded('c', { ...host, nodeId: 'other' })).toBe(false);
  });

  it('EDGE-FLOW-11 have not ended where they are sent again', () => {
    const { sent } = begin();
    for (const id of ['c', 'other']) sent.noteEnded(id, host);
    sent.add(order('c'));
    expect([sent.hasEnded('c', host), sent.hasEnded('other', host)]).toEqual([false, true]);
  });

  it.each([
    [999, []],
    [1_000, ['c']],
  ])('are in the list of their host %i ms after they were sent: %j', async (ms, want) => {
    const { clock, listed, sent } = begin();
    sent.add(order('c'));
    await clock.advance(ms);
    expect(listed).toEqual(want);
    expect(sent.take('c', host)?.begun).toMatchObject({ tool: 'cmd.run' });
  });

  it('are not listed by themselves where they ended before', async () => {
    const { clock, listed, sent } = begin();
    sent.add(order('quick'));
    sent.add(order('slow'));
    await clock.advance(500);
    sent.take('quick', host);
    sent.add(order('later'));
    await clock.advance(500);
    expect(listed).toEqual(['slow']);
    await clock.advance(500);
    expect(listed).toEqual(['slow', 'later']);
  });

  it('are listed when the relay stops', async () => {
    const { clock, listed, sent, stopping } = begin();
    sent.add(order('a'));
    sent.add(order('b'));
    stopping.abort();
    await clock.advance(0);
    expect(listed).toEqual(['a', 'b']);
  });

  it('are remembered up to a bound; the oldest is listed and forgotten first', () => {
    const { listed, sent } = begin();
    for (let number = 0; number < 8_193; number += 1) sent.add(order(`c-${number}`));
    expect(sent.find('c-0', host)).toBeUndefined();
    expect(sent.find('c-1', host)).toBeDefined();
    expect(listed).toEqual(['c-0']);
  });
});

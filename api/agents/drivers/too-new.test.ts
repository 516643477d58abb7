import { expect, it, vi } from 'vitest';
import { conversationLogs } from '../../../lib/conversation/record.ts';
import { emptyState, fold } from '../../../lib/conversation/state.ts';
import { executionOf, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { fasterClock } from '../../../test/support/faster-clock.ts';

const replicas = useReplicas();
const at = '2026-01-01T00:00:00.000Z';

it('a record of a kind that this version lacks is an error of its own', () => {
  const record = { kind: 'dreamt', at } as never;
  expect(() => fold(emptyState(), record)).toThrow(
    expect.objectContaining({ code: 'unavailable', reason: 'ConversationTooNew' }),
  );
});

it('a conversation of a newer version is left to the replicas of that version, and fails by nothing here', {
  timeout: 60_000,
}, async () => {
  const shared = new SharedExecutions();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return replyOf('of an older version');
  };
  const stream = replicas.connect().logs(conversationLogs);
  const begun = { agent_id: 'a', agent: 'a', version: '1', system: 's', input: 'i', model: 'm' };
  let after: number | undefined = 0;
  for (const record of [
    { kind: 'started', at, ...begun },
    { kind: 'dreamt', at },
  ]) {
    const entry = { tenant: 'acme', key: 'new', body: JSON.stringify(record), id: record.kind, after };
    await vi.waitFor(async () => void (after = await stream.append(entry)), { timeout: 20_000 });
  }
  const { drivers } = replicas.startFast({ shared, ask });
  const execution = executionOf('new');
  shared.put(execution);
  const asks = async () => drivers.open(execution, AbortSignal.timeout(10_000));
  await expect(asks()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('newer version'),
  });
  // Time for two scans, each of which waits half a second for other replicas.
  await fasterClock.sleep(20_000);
  await expect(asks()).rejects.toMatchObject({ code: 'unavailable' });
  expect([asked, shared.outcomes]).toEqual([0, []]);
});

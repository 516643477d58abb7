import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { conversationLogs } from '../../../lib/conversation/record.ts';
import { AppError } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { executionOf, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { ConversationLog } from './log.ts';

const replicas = useReplicas();

/** Leaves the log of a tenant as its bound of age does: empty, or with its newest messages, and its sequences continue. */
async function age(tenant: string, keep = 0): Promise<void> {
  const connection = await connect({ servers: replicas.server.url });
  const { streams } = await jetstreamManager(connection);
  await streams.purge(`WINDLASS_STREAM_conversations_${tenant}`, { keep });
  await connection.close();
}

const logOf = (tenant: string, behind: number) =>
  new ConversationLog({
    stream: replicas.connect().logs(conversationLogs),
    clock: systemClock,
    newId,
    place: { tenant, behind },
    executionId: 'begins',
    startedAt: new Date().toISOString(),
    logger: silentLogger,
    signal: new AbortController().signal,
    giveUp: new AbortController().signal,
  });

/** A log whose sequences are 1 to 5, and whose newest messages are kept. */
async function writtenLog(tenant: string, keep: number): Promise<void> {
  const log = replicas.connect().logs(conversationLogs);
  for (let sequence = 1; sequence <= 5; sequence += 1) await log.append({ tenant, key: 'other', body: '{}' });
  await age(tenant, keep);
}

describe('a conversation without a record', () => {
  it.each([
    ['n-1 of an empty log', { keep: 0, behind: 4 }, 'ConversationLost'],
    ['n of an empty log', { keep: 0, behind: 5 }, 'begins'],
    ['n+1 of an empty log', { keep: 0, behind: 6 }, 'ConversationLost'],
    ['n-1 of a shortened log', { keep: 2, behind: 2 }, 'ConversationLost'],
    ['n of a shortened log', { keep: 2, behind: 3 }, 'begins'],
    ['n+1 of a shortened log', { keep: 2, behind: 4 }, 'begins'],
  ])('that was claimed at place %s', async (_at, { keep, behind }, want) => {
    const tenant = `keeps-${keep}-behind-${behind}`;
    await writtenLog(tenant, keep);
    const loaded = logOf(tenant, behind).load();
    const end = loaded.then(
      () => 'begins',
      (error: unknown) => (error instanceof AppError ? error.reason : error),
    );
    expect(await end).toBe(want);
  });

  it('begins in a log in which nothing was written yet', async () => {
    await expect(logOf('young', 0).load()).resolves.toBe(true);
  });
});

it('executions that begin together after an idle week complete', { timeout: 60_000 }, async () => {
  const shared = new SharedExecutions();
  for (const _replica of ['first', 'second']) replicas.start({ shared, ask: async () => replyOf('ok') });
  shared.put(executionOf('before', { startedAt: new Date().toISOString() }));
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000 });
  await age('acme');
  // Began when nothing of the others was written; it is seen once their first records are.
  const startedAt = new Date().toISOString();
  shared.put(executionOf('panel-1', { startedAt }));
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(2), { timeout: 20_000 });
  for (const uid of ['panel-2', 'panel-3', 'panel-4']) shared.put(executionOf(uid, { startedAt }));
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(5), { timeout: 30_000 });
  expect(shared.outcomes.map(({ reason }) => reason)).toEqual(Array(5).fill(undefined));
});

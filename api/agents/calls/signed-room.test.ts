import { expect, it } from 'vitest';
import { conversationLimits } from '../../../lib/conversation/limits.ts';
import { heldBytes } from '../../../lib/conversation/held-bytes.ts';
import { emptyState, fold } from '../../../lib/conversation/state.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import { createSealSessions } from '../../../lib/envelope/index.ts';
import type { ModelReply } from '../../../lib/models/models.ts';
import { executionOf, podTool, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { sealSession } from '../../../test/support/seal-session.ts';
import { Room, roomLimits } from '../drivers/room.ts';

const replicas = useReplicas();
const never = new AbortController().signal;
const at = '2026-01-31T12:00:00.000Z';
/** Two bytes a character. */
const wide = (bytes: number) => ({ text: 'ж'.repeat(bytes / 2) });

/** Takes about so much as values, and a thirtieth of that as JSON. */
const many = (bytes: number) => ({ list: Array.from({ length: bytes / 88 }, () => []) });

/** A replica with room for so many bytes that drives an execution whose model does not answer. */
async function driven(uid: string, poolBytes?: number) {
  const shared = new SharedExecutions();
  const bus = await replicas.connected();
  await createSealSessions(bus).create({ ...sealSession(), execution_id: uid });
  const ask = () => new Promise<ModelReply>(() => undefined);
  const tools = [podTool(false)];
  const replica = replicas.start({ shared, ask, tools, ...(poolBytes !== undefined && { poolBytes }) });
  shared.put(executionOf(uid));
  const open = await replica.drivers.open(shared.get(`run-${uid}`), never);
  return (call_id: string, args: object) =>
    open?.signed.take({ call_id, tool: 'fs.write', arguments: { ...args } }).then(
      () => 'taken',
      (error: unknown) => String(error),
    );
}

it('§11 signed calls under way have room for their arguments, or are refused until there is', async () => {
  const take = await driven('small', 2 * roomLimits.unreadBytes);
  expect(await take('one', wide(20_000))).toBe('taken');
  expect(await take('two', wide(400_000))).toMatch(/no room for the arguments; call again later/);
  expect(await take('three', wide(20_000))).toBe('taken');
});

it('§11 signed calls under way of one execution have so much memory together', async () => {
  const take = await driven('large');
  const half = conversationLimits.signedBytes / 2;
  expect(await take('one', many(half - 1_000))).toBe('taken');
  expect(await take('two', many(half + 1_000))).toMatch(/arguments of the signed calls that wait take too much memory/);
  expect(await take('three', many(half - 1_000))).toBe('taken');
});

it('§11 arguments of signed calls count by what they take as values, and no more behind their end', () => {
  const state = emptyState();
  const args = { list: Array.from({ length: 1_000 }, () => []) };
  fold(state, { kind: 'signed_call', call_id: 'a', tool: 't', arguments: args, at });
  expect(heldBytes(state)).toBeGreaterThan(20 * JSON.stringify(args).length);
  fold(state, { kind: 'signed_ended', call_id: 'a', tool: 't', content: '', is_error: false, at });
  expect(heldBytes(state)).toBe(0);
});

it('§11 the largest room has place for the largest texts and signed calls together', async () => {
  const pool = createFairPool({ size: roomLimits.poolBytes, clock: createManualClock() });
  const room = new Room(await pool.enter({ tenant: 'acme', cost: roomLimits.unreadBytes }), roomLimits.unreadBytes);
  expect(room.fits(conversationLimits.heldBytes + conversationLimits.signedBytes)).toBe(true);
  expect(pool.used).toBeGreaterThan(2 * (conversationLimits.heldBytes + conversationLimits.signedBytes));
});

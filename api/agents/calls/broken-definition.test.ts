import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import { executionOf, podTool, SharedExecutions, specOf } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { createConversationFeed } from '../conversation/live.ts';
import { signedAddress } from './signed-calls.ts';

const replicas = useReplicas({ areConcurrent: true });

async function recordsOf(uid: string) {
  const feed = createConversationFeed(await replicas.connected(), systemClock);
  return (await feed.read('acme', uid, 0)).map(({ record }) => record);
}

it.concurrent.each([
  [
    'AppError',
    new AppError('not_found', 'the version is gone', { reason: 'DefinitionLost' }),
    /^DefinitionLost: .*; nothing ran$/,
  ],
  ['bug', new TypeError('x is undefined'), /^InternalError: .*nothing ran$/],
])('signed calls that meet an unexpected %s end, and leave their places to others', async (what, error, said) => {
  const shared = new SharedExecutions();
  let isLost = false;
  const definitionOf = async () => {
    if (isLost) throw error;
    return { spec: specOf(), security: {} };
  };
  const leaving = { repeatableMs: 50, callsMs: 100 };
  const ask = () => new Promise<never>(() => undefined);
  replicas.start({ shared, ask, tools: [podTool(false)], definitionOf, leaving });
  shared.put(executionOf(what));
  const kindIs = async (kind: string) => expect((await recordsOf(what)).at(-1)?.kind).toBe(kind);
  await vi.waitFor(() => kindIs('model_asked'), { timeout: 20_000 });
  isLost = true;
  const bus = replicas.connect();
  const call = async (id: string) => {
    const body = JSON.stringify({ call_id: id, tool: 'fs.write', arguments: {} });
    await vi.waitFor(() => bus.request(signedAddress(what), body, { timeoutMs: 5_000 }), { timeout: 20_000 });
  };
  for (const id of ['c1', 'c2', 'c3', 'c4', 'c5']) {
    await call(id);
    await vi.waitFor(() => kindIs('signed_ended'), { timeout: 10_000 });
  }
  const ended = (await recordsOf(what)).filter(({ kind }) => kind === 'signed_ended');
  const content = expect.stringMatching(said) as string;
  expect(ended).toMatchObject(['c1', 'c2', 'c3', 'c4', 'c5'].map((call_id) => ({ call_id, is_error: true, content })));
});

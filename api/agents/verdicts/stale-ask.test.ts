import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import { executionOf, podTool, replyOf, SharedExecutions, specOf } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';

const replicas = useReplicas({ areConcurrent: true });
const tools = [podTool(false)];
const spec = specOf({ approval: { tools: ['fs.*'], timeout_seconds: 600 } });
const ask = async ({ messages }: ModelRequest): Promise<ModelReply> =>
  messages.some(({ role }) => role === 'assistant') ? replyOf('end') : replyOf('', [['fs.write', {}]]);

/** The same API server, seen through a cache that has not come to the ask. Counts reads past the cache. */
function behindTheAsk(shared: SharedExecutions, uid: string, remembers: boolean) {
  const whole = shared.objects.get(uid) as AgentExecution;
  const { ask: _ask, ...before } = whole.spec;
  let held: AgentExecution = { ...whole, spec: before };
  const seen = { reads: 0 };
  const get = shared.get.bind(shared);
  shared.get = (name) => {
    seen.reads += 1;
    return get(name);
  };
  const cache = {
    remember: (object?: AgentExecution) => void (held = remembers && object !== undefined ? object : held),
    getByUid: () => held,
    values: () => [held].values(),
  };
  Object.defineProperty(shared, 'informer', { value: { cache, whole: async () => held, onChange: () => undefined } });
  return seen;
}

it.concurrent.each([
  ['waits at once for what it has read', true, 1],
  ['pauses between two looks where its cache does not take even that', false, 5],
])('ADR 0082 a replica whose cache has not come to the ask %s', async (title, remembers, most) => {
  const shared = new SharedExecutions();
  const uid = title.replaceAll(' ', '-');
  const first = replicas.start({ shared, ask, tools, spec });
  shared.put(executionOf(uid));
  await vi.waitFor(() => expect(shared.objects.get(uid)?.spec.ask).toBeDefined(), { timeout: 15_000 });
  await first.stop();
  const seen = behindTheAsk(shared, uid, remembers);
  replicas.start({ shared, ask, tools, spec });
  await vi.waitFor(() => expect(seen.reads).toBeGreaterThan(0), { timeout: 15_000 });
  // Time for more than a hundred looks without a pause; a slow machine makes fewer.
  await sleep(4_000);
  expect(seen.reads).toBeLessThanOrEqual(most);
});

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ModelReply, ModelRequest } from '../../lib/models/models.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import { executionOf, type Replica, replyOf, SharedExecutions, specOf, startReplica } from '../agents/replica.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';

/** Arguments that a model, or what passes for one, may send to a tool of the API, whose call waits for a person or not. */
const bombs: Readonly<Record<string, string>> = {
  'of forty thousand levels': `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`,
  'of a hundred thousand lists': `{"query":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  'of two MiB': JSON.stringify({ query: 'x'.repeat(2 * 1024 * 1024) }),
  'of fifty thousand names': `{${Array.from({ length: 20_000 }, (_, index) => `"n${index}":1`).join(',')}}`,
  'that are no JSON': '{"query":',
  'that are a list': '[1,2,3]',
  'that are null': 'null',
  'of the wrong type': '{"query":{"__proto__":{"a":1}}}',
  'that end in the middle of a sign': '{"query":"\\ud83d',
};

let nats: TestBus;
beforeAll(async () => void (nats = await startTestBus()));
afterAll(() => nats.stop());

describe.each([
  ['runs at once', {}],
  ['waits for a person', { approval: { tools: ['svc.*'] } }],
])('a tool call that %s', (title, more) => {
  it.each(Object.entries(bombs))(
    'with arguments %s is refused in time, and the conversation continues',
    async (what, text) => {
      const shared = new SharedExecutions();
      const run = vi.fn<() => Promise<{ content: string; isError: boolean }>>(async () => ({
        content: '',
        isError: false,
      }));
      const ask = async ({ messages }: ModelRequest): Promise<ModelReply> => {
        if (messages.some(({ role }) => role === 'tool')) return replyOf(messages.at(-1)?.content ?? '');
        const call = { id: 'x', name: 'svc.workflow.search', arguments: text };
        return { ...replyOf('', [['svc.workflow.search', {}]]), tool_calls: [call] };
      };
      const toolbox = createToolbox({ builtin_dispatchers: [] }, { 'svc.workflow.search': { kind: 'api', run } });
      const spec = specOf({ tools: [{ name: 'svc.*' }], ...more });
      const replica: Replica = startReplica({ bus: nats.connect(), shared, ask, toolbox, spec });
      const begun = performance.now();
      shared.put(executionOf(`${title}-${what}`.replaceAll(' ', '-')));
      await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000, interval: 10 });
      expect(performance.now() - begun).toBeLessThan(5_000);
      expect(shared.outcomes[0]).toMatchObject({
        phase: 'completed',
        output: expect.stringContaining('InvalidArguments') as string,
      });
      expect(run).not.toHaveBeenCalled();
      await replica.stop();
    },
  );
});

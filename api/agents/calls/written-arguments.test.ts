import { expect, it, vi } from 'vitest';
import type { ModelMessage, ModelReply } from '../../../lib/models/models.ts';
import { answer } from '../../../lib/tools/answers.ts';
import type { Tool, ToolAnswer } from '../../../lib/tools/tool.ts';
import { executionOf, podTool, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';

const replicas = useReplicas();

it.each([
  ['numbers that JSON writes longer', `{"a":[${Array(50_000).fill('1e20').join(',')}]}`, false],
  ['as many short numbers', `{"a":[${Array(50_000).fill('1e2').join(',')}]}`, true],
  ['lists that are nested deeply', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, false],
])(
  'arguments within the bound of a call, made of %s, are a call or a refusal of it',
  async (what, args, isRun) => {
    const shared = new SharedExecutions();
    const run = vi.fn<() => Promise<ToolAnswer>>(async () => answer('counted'));
    const tools: Tool[] = [{ ...podTool(true), name: 'count', run: { kind: 'api', run } }];
    let read: readonly ModelMessage[] = [];
    const ask = async ({ messages }: { readonly messages: readonly ModelMessage[] }): Promise<ModelReply> => {
      read = messages;
      if (messages.some(({ role }) => role === 'tool')) return replyOf('done');
      return { ...replyOf('', [['count', {}]]), tool_calls: [{ id: 'x', name: 'count', arguments: args }] };
    };
    replicas.startFast({ shared, ask, tools });
    shared.put(executionOf(what.replaceAll(' ', '-')));
    await vi.waitFor(() => expect(shared.outcomes).toMatchObject([{ output: 'done' }]), { timeout: 20_000 });
    expect(run).toHaveBeenCalledTimes(isRun ? 1 : 0);
    const content = expect.stringMatching(isRun ? /^counted$/ : /^InvalidArguments: .*nested in 64 levels/) as string;
    expect(read.find(({ role }) => role === 'tool')).toMatchObject({ content });
  },
  40_000,
);

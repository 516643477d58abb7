import { expect, it, vi } from 'vitest';
import { conversationLogs } from '../../../lib/conversation/record.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import { executionOf, podTool, replyOf, SharedExecutions, specOf } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { type JudgeAgents, JudgeLater } from '../verdicts/judge-agents.ts';

const replicas = useReplicas();
const at = new Date().toISOString();
const call = { call_id: 'signed_1', at };
const ref = { verb: 'create', resource: 'agentexecutions' };
const refusal = new KubeError(403, { reason: 'Forbidden', message: 'no' }, ref);

/** The log that an earlier driver has left, with a signed call under way. */
async function writeBeginning(key: string, isGiven: boolean): Promise<void> {
  const stream = (await replicas.connected()).logs(conversationLogs);
  const started = { agent_id: 'a', agent: 'a', version: '1', system: 's', input: 'i', model: 'm' };
  const records = [
    { kind: 'started', at, ...started },
    { kind: 'iteration_started', at, iteration: 1, action: 'generate' },
    { kind: 'signed_call', ...call, tool: 'fs.write', arguments: {} },
    ...(isGiven ? [{ kind: 'dispatched', ...call, dispatch_id: 'd1', pod_uid: 'pod-1' }] : []),
  ];
  for (const record of records) await stream.append({ tenant: 'acme', key, body: JSON.stringify(record) });
}

it.each([
  { isGiven: true, state: 'that a pod has' },
  { isGiven: false, state: 'that no pod has yet' },
])(
  'AMB-038 a conversation is driven again that is interrupted while the policy of a signed call is read, $state',
  async ({ isGiven }) => {
    const uid = isGiven ? 'given' : 'waits';
    await writeBeginning(uid, isGiven);
    const shared = new SharedExecutions();
    const spec = specOf({ execution: { validation: { threshold: 0.5, agent: 'judge' } } });
    const result = vi.fn<JudgeAgents['result']>(async () => {
      if (result.mock.calls.length > 1)
        return { judge: 'j', output: '{"score":1,"feedback":""}', input_tokens: 1, output_tokens: 1 };
      throw new JudgeLater('refused', { cause: refusal });
    });
    let reads = 0;
    const definitionOf = async () => {
      reads += 1;
      // The log is opened twice, since its driver is looked at a second time. Then comes the conversation, then the signed call.
      if (reads === 4) await new Promise(() => undefined);
      return { spec, security: {} };
    };
    const judges = { idle: async () => undefined, result };
    replicas.startFast({
      shared,
      judges,
      definitionOf,
      ask: async () => replyOf('the answer'),
      tools: [podTool(false)],
    });
    shared.put(executionOf(uid));
    await vi.waitFor(() => expect(shared.outcomes).toMatchObject([{ output: 'the answer' }]), { timeout: 20_000 });
    expect([result.mock.calls.length, reads > 4]).toEqual([2, true]);
  },
  60_000,
);

import { describe, expect, it } from 'vitest';
import type { AgentSpec } from '../../crds/schema/agent.ts';
import { next } from './next.ts';
import type { ConversationRecord } from './record.ts';
import { emptyState, fold } from './state.ts';

type Fields = ConversationRecord extends infer R ? (R extends unknown ? Omit<R, 'at'> : never) : never;

const spec: AgentSpec = { version: '1.0.0', runtime: { model: 'default' }, task: { instruction: 'Work.' } };

function stateOf(...records: readonly Fields[]) {
  const state = emptyState();
  for (const fields of records) fold(state, { ...fields, at: '2026-01-31T12:00:00.000Z' } as ConversationRecord);
  return state;
}

const started: Fields = {
  kind: 'started',
  agent_id: 'a',
  agent: 'a',
  version: '1',
  system: 'Work.',
  input: 'x',
  model: 'm',
};
const begun: Fields = { kind: 'iteration_started', iteration: 1, action: 'generate' };
const asked: Fields = { kind: 'model_asked', iteration: 1, call: 1 };
const said = (key: string, ...texts: string[]): Fields => ({ kind: 'pod_said', key, iteration: 1, texts });
const replied = (content: string, ...calls: string[]): Fields => ({
  kind: 'model_replied',
  content,
  tool_calls: calls.map((id) => ({ id, name: 'fs.read', arguments: '{}' })),
  stop: calls.length > 0 ? 'tool_calls' : 'end',
  provider: 'p',
  model: 'm',
  input_tokens: 1,
  output_tokens: 1,
});
const toolEnded = (call_id: string): Fields => ({
  kind: 'tool_ended',
  call_id,
  tool: 'fs.read',
  content: 'found',
  is_error: false,
  ran: true,
});
const roleAndText = (records: readonly Fields[]) =>
  stateOf(...records).messages.map(({ role, content }) => (role === 'user' ? content : role));

describe('what a pod says', () => {
  it.each([
    ['before the conversation has begun', [said('k', 'a', 'b'), started], ['system', 'x', 'a', 'b']],
    ['before the first question', [started, begun, said('k', 'a', 'b')], ['system', 'x', 'a', 'b']],
    ['twice', [started, said('k', 'a'), said('k', 'a')], ['system', 'x', 'a']],
    ['twice, and means it', [started, said('k', 'a'), said('l', 'a')], ['system', 'x', 'a', 'a']],
    ['while a question is under way', [started, begun, asked, said('k', 'a')], ['system', 'x']],
    [
      'while calls are under way',
      [started, begun, asked, replied('', '1', '2'), said('k', 'a'), toolEnded('1')],
      ['system', 'x', 'assistant', 'tool'],
    ],
    [
      'before the last call has ended',
      [started, begun, asked, replied('', '1', '2'), said('k', 'a'), toolEnded('1'), toolEnded('2')],
      ['system', 'x', 'assistant', 'tool', 'tool', 'a'],
    ],
    [
      'while an answer is judged',
      [started, begun, asked, replied('done'), said('k', 'a')],
      ['system', 'x', 'assistant'],
    ],
  ] as const)('%s: DISPATCH-05 DISPATCH-06 reaches the model in its turn', (_when, records, messages) => {
    expect(roleAndText(records)).toEqual(messages);
  });

  it('DISPATCH-05 makes an answer that was given without it a message, and the model is asked again', () => {
    const state = stateOf(started, begun, asked, said('k', 'a'), replied('done'));
    expect(state.messages.map(({ content }) => content)).toEqual(['Work.', 'x', 'done', 'a']);
    expect(next(state, spec)).toMatchObject({ kind: 'ask_model', iteration: 1 });
    fold(state, { ...asked, call: 2, at: '' } as ConversationRecord);
    fold(state, { ...replied('better'), at: '' } as ConversationRecord);
    expect(next(state, spec)).toMatchObject({ kind: 'complete_iteration', output: 'better', accepted: true });
  });

  it('counts to the bytes of the conversation from its record on', () => {
    const before = stateOf(started, begun, asked).bytes;
    expect(stateOf(started, begun, asked, said('k', 'x'.repeat(1_000))).bytes).toBeGreaterThan(before + 2_000);
  });
});

import { describe, expect, it } from 'vitest';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { fullExecution } from './full-execution.ts';

const kept = { path: '', ref: 'a'.repeat(64), bytes: 9, encoding: 'text' as const };
const outputs =
  () =>
  async ({ ref }: { readonly ref: string }) =>
    Buffer.from(ref === kept.ref ? 'the whole' : '"other"');

describe('an execution in full', () => {
  it('HUMAN-API-03 has the whole of what a person is asked, and no reference left', async () => {
    const asking = anExecution().now({ state: 'ask', kind: 'Human', prompt: 'the…', prompt_ref: kept }).build();
    const { status } = await fullExecution(outputs, asking);
    expect(status?.current).toEqual({ ...asking.status?.current, prompt: 'the whole', prompt_ref: undefined });
  });

  it('has the values of the Blackboard and of earlier visits whole', async () => {
    const ended = anExecution()
      .past({ state: 'a' }, { refs: [kept] })
      .build();
    const history = ended.status?.history?.map((visit) => ({ ...visit, output: { refs: [kept] } })) ?? [];
    const { status } = await fullExecution(outputs, {
      ...ended,
      status: { phase: 'running', ...ended.status, history },
    });
    expect(status?.history?.map(({ output }) => output)).toEqual([{ value: 'the whole' }]);
  });
});

import { describe, expect, it } from 'vitest';
import type { AgentExecution, AgentExecutionSpec, AgentExecutionStatus } from '../../crds/schema/agent-execution.ts';
import { after, begin } from '../../test/builders/execution-builder.ts';
import { observeAgent, wholeAgent } from './observe-agents.ts';

const parent = { name: 'run', uid: 'w-1', state: 'panel', visit: 2, judge: 1 };

const anAgent = (
  spec: Partial<AgentExecutionSpec> = {},
  status?: AgentExecutionStatus,
  metadata: object = {},
): AgentExecution => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: { name: 'a', namespace: 'default', uid: 'a-1', ...metadata },
  spec: { agent: 'writer', parent, ...spec },
  ...(status === undefined ? {} : { status }),
});

const result = (fields: Partial<NonNullable<AgentExecutionSpec['result']>> = {}) => ({
  result: { phase: 'completed' as const, at: after(9), ...fields },
});

describe('an AgentExecution as a fact', () => {
  it('is nothing where no state started it', () => {
    const { parent: _parent, ...spec } = anAgent().spec;
    expect(observeAgent({ ...anAgent(), spec })).toEqual([]);
  });

  it('that waits for a person has started and is running', () => {
    expect(observeAgent(anAgent({}, { phase: 'waiting' }))).toMatchObject([{ phase: 'running' }]);
  });

  it('names the visit and the judge that it is for', () => {
    expect(observeAgent(anAgent())).toMatchObject([{ name: 'a', uid: 'a-1', madeBy: parent, phase: 'pending' }]);
  });

  it.each(['pending', 'running', 'completed', 'failed', 'cancelled'] as const)(
    'has the phase %s of its status',
    (phase) => {
      expect(observeAgent(anAgent({}, { phase }))).toMatchObject([{ phase }]);
    },
  );

  it.each(['completed', 'failed'] as const)('has %s as soon as the API says the result', (phase) => {
    const spec = result({ phase, reason: 'Timeout', message: 'late', score: 0.4, confidence: 0.3, iterations: 2 });
    expect(observeAgent(anAgent(spec, { phase: 'running', iterations: 1, started_at: after(1) }))).toMatchObject([
      {
        phase,
        why: { reason: 'Timeout', message: 'late' },
        score: 0.4,
        confidence: 0.3,
        iterations: 2,
        startedAt: begin + 1_000,
        endedAt: begin + 9_000,
      },
    ]);
  });

  it.each([
    ['running', 'cancelled'],
    ['pending', 'cancelled'],
    ['completed', 'completed'],
    ['failed', 'failed'],
  ] as const)('that is being deleted while it is %s counts as %s', (phase, expected) => {
    const going = anAgent({}, { phase }, { deletionTimestamp: after(3) });
    expect(observeAgent(going)).toMatchObject([{ phase: expected }]);
  });

  it('says what it waits for, which agent it runs, and whether it was cancelled', () => {
    const agent = { name: 'writer', namespace: 'default', uid: 'ag-1', version: '1.0.0', revision: 'r' };
    const cancel = { by: 'ann', at: after(2) };
    const status = { phase: 'pending', reason: 'AgentNotReady', message: 'soon', agent } as const;
    expect(observeAgent(anAgent({ cancel }, status))).toMatchObject([
      { cancelled: true, agentUid: 'ag-1', why: { reason: 'AgentNotReady', message: 'soon' } },
    ]);
  });

  it('has its final text only where it was read in full', () => {
    expect(observeAgent(anAgent(result({ output: 'text' })))[0]).not.toHaveProperty('output');
    expect(wholeAgent(anAgent(result({ output: 'text' })))).toMatchObject({ output: 'text' });
    expect(wholeAgent(anAgent(result()))).toMatchObject({ output: '' });
  });
});

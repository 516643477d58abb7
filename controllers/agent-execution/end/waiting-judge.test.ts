import { expect, it } from 'vitest';
import { labels } from '../../../crds/labels.ts';
import type { AgentExecution, AgentExecutionStatus } from '../../../crds/schema/agent-execution.ts';
import { judgeExecutionName } from '../../../lib/agent/judged-execution.ts';
import { createCache } from '../../../lib/informer/cache.ts';
import { executionOf } from '../../../test/agents/replica.ts';
import type { End } from '../decide.ts';
import { withWaitingJudge } from './waiting-judge.ts';

const judged: AgentExecution = executionOf('judged');
const timeout: End = { phase: 'failed', reason: 'Timeout', message: 'the agent gave no answer' };
const full = { reason: 'QuotaExceeded', message: 'exceeded quota: windlass' };

function judge(iteration: number, status: AgentExecutionStatus, parentUid = 'judged'): AgentExecution {
  const { metadata, spec } = executionOf(`judge-${iteration}`);
  const name = judgeExecutionName('judged', iteration);
  return { ...judged, metadata: { ...metadata, name, labels: { [labels.parentUid]: parentUid } }, spec, status };
}

function messageOf(judges: readonly AgentExecution[], end = timeout): string {
  const executions = createCache<AgentExecution>();
  executions.replaceAll(judges, '1');
  return withWaitingJudge(executions, judged, end).message;
}

it('a timeout names what the judge of the answer waited for', () => {
  const first = judge(1, { phase: 'completed', reason: 'Completed', message: 'done' });
  const waits = `the agent gave no answer; its judge ${judgeExecutionName('judged', 2)} waited: QuotaExceeded: exceeded quota: windlass`;
  expect(messageOf([first, judge(2, { phase: 'running', ...full })])).toBe(waits);
  expect(messageOf([judge(50, { phase: 'running', ...full })])).toContain('QuotaExceeded');
});

it.each<[string, readonly AgentExecution[], End?]>([
  ['no judge', []],
  ['a judge that works', [judge(1, { phase: 'running' })]],
  ['a judge that has ended', [judge(1, { phase: 'failed', ...full })]],
  ['an execution of that name that judges another one', [judge(1, { phase: 'running', ...full }, 'other')]],
  ['an end that is no timeout', [judge(1, { phase: 'running', ...full })], { ...timeout, reason: 'Cancelled' }],
])('and no other wait: %s', (_title, judges, end = timeout) => {
  expect(messageOf(judges, end)).toBe('the agent gave no answer');
});

import { describe, expect, it } from 'vitest';
import type { AgentExecution, AgentExecutionSpec, AgentExecutionStatus } from '../../crds/schema/agent-execution.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { Pod, PodStatus } from '../../lib/kube/index.ts';
import { decideEnd, decidePod, nextAttempt } from './decide.ts';
import { agentLimits } from './limits.ts';

const at = Date.parse('2026-01-02T00:00:00Z');
const time = (ms: number): string => new Date(at + ms).toISOString();

const execution = (spec: Partial<AgentExecutionSpec> = {}, status: AgentExecutionStatus = {}): AgentExecution => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: { name: 'run', namespace: 'tenant-a', uid: 'u' },
  spec: { agent: 'judge', ...spec },
  status: { phase: 'running', deadline: time(1_000), ...status },
});
const result = { phase: 'completed' as const, at: time(0) };
const cancel = { by: 'ann', at: time(0), reason: 'enough' };

describe('an execution of an agent ends', () => {
  it('AGENT-22 with the outcome, its numbers, and nothing else of it', () => {
    const end = decideEnd(
      execution({ result: { ...result, score: 0, iterations: 2, output: 'text', model: 'm' } }),
      at,
    );
    expect(end).toEqual({
      phase: 'completed',
      reason: 'Completed',
      message: 'the agent gave its answer',
      numbers: { score: 0, iterations: 2 },
    });
  });

  it('with the reason of an outcome that failed', () => {
    const failed = { ...result, phase: 'failed' as const, reason: 'MaxIterationsExceeded', message: 'ten refused' };
    expect(decideEnd(execution({ result: failed }), at)).toMatchObject({
      phase: 'failed',
      reason: failed.reason,
      message: failed.message,
    });
    expect(decideEnd(execution({ result: { ...result, phase: 'failed' } }), at)).toMatchObject({
      phase: 'failed',
      reason: 'InternalError',
    });
  });

  it('when a user cancels it', () => {
    expect(decideEnd(execution({ cancel }), at)).toMatchObject({
      phase: 'cancelled',
      reason: 'Cancelled',
      message: 'cancelled by ann: enough',
    });
  });

  it('with its outcome, though it was cancelled and its time is over', () => {
    expect(decideEnd(execution({ cancel, result }), at + 2_000)).toMatchObject({ phase: 'completed' });
  });

  it.each([
    [999, undefined],
    [1_000, 'Timeout'],
    [1_001, 'Timeout'],
  ])('WF-AGENT-04 %i ms into a deadline of 1,000: %s', (ms, reason) => {
    expect(decideEnd(execution(), at + ms)?.reason).toBe(reason);
  });

  it('and its timeout says what its conversation waited for', () => {
    const waiting = execution({}, { reason: 'ProviderBusy', message: 'no turn yet' });
    expect(decideEnd(waiting, at + 1_000)?.message).toContain('; it waited: ProviderBusy: no turn yet');
  });

  it('and its timeout says what the pod waited for', () => {
    const waiting = execution({}, { reason: 'WaitingForImage', message: 'not found' });
    expect(decideEnd(waiting, at + 1_000)?.message).toContain('its pod waited: WaitingForImage: not found');
  });

  it('at no time that is not known', () => {
    expect(decideEnd({ ...execution(), status: {} }, at)).toBeUndefined();
  });

  it.each([
    ['pending', false],
    ['running', false],
    ['completed', true],
    ['failed', true],
    ['cancelled', true],
    ['unheard', false],
  ])('once: %s is over: %s', (phase, over) => {
    expect(finished({ status: { phase: phase as 'failed' } })).toBe(over);
  });
});

const pod = (status: PodStatus, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'tenant-a', uid: 'pu', creationTimestamp: time(0), ...metadata },
  spec: { containers: [], nodeName: 'node-1' },
  status,
});
const container = (state: object): PodStatus => ({ containerStatuses: [{ name: 'step', state }] });
const running = container({ running: { startedAt: time(0) } });
const exited = (exitCode: number, more: object = {}): PodStatus =>
  container({ terminated: { exitCode, startedAt: time(0), finishedAt: time(0), ...more } });
const disrupted = (reason: string, message = ''): PodStatus => ({
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason, message }],
});

describe('the pod of an agent', () => {
  it('runs', () => {
    expect(decidePod(pod(running), at)).toEqual({ kind: 'runs' });
  });

  it('waits in the words of Kubernetes, and fails after an hour', () => {
    const waiting = pod(container({ waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }));
    const why = { reason: 'WaitingForImage', message: 'no such image' };
    expect(decidePod(waiting, at)).toEqual({ kind: 'waits', why, lookAt: at + agentLimits.queueMs });
    expect(decidePod(waiting, at + agentLimits.queueMs - 1)).toMatchObject({ kind: 'waits' });
    expect(decidePod(waiting, at + agentLimits.queueMs)).toEqual({
      kind: 'failed',
      why: { reason: 'NeverStarted', message: 'no container within 60 minutes: no such image' },
    });
  });

  it('that is new says nothing yet', () => {
    expect(decidePod(pod({}), at)).toEqual({ kind: 'waits', lookAt: at + 2_000 });
  });

  it('that never can start fails at once', () => {
    const never = pod(container({ waiting: { reason: 'InvalidImageName', message: 'odd' } }));
    expect(decidePod(never, at)).toEqual({
      kind: 'failed',
      why: { reason: 'ImagePullFailed', message: 'InvalidImageName: odd' },
    });
  });

  // A kubelet gives whole seconds.
  const until = at + 1_000 + agentLimits.outcomeMs;

  it.each([0, 1])('that ended with %i may still have an outcome on its way', (code) => {
    const ended = pod({ ...exited(code), phase: code === 0 ? 'Succeeded' : 'Failed' });
    expect(decidePod(ended, at)).toEqual({ kind: 'waits', lookAt: until });
    expect(decidePod(ended, until - 1)).toMatchObject({ kind: 'waits' });
  });

  it.each([0, 1])('that ended with %i and has none by then has failed', (code) => {
    const ended = pod({ ...exited(code, { message: 'refused\n' }), phase: code === 0 ? 'Succeeded' : 'Failed' });
    const message = `the pod ended with exit code ${code} before the agent had an outcome: refused`;
    expect(decidePod(ended, until)).toEqual({ kind: 'failed', why: { reason: 'PodFailed', message } });
  });

  it('that ran out of memory says so', () => {
    expect(decidePod(pod(exited(137, { reason: 'OOMKilled' })), at + 60_000)).toMatchObject({
      kind: 'failed',
      why: { reason: 'OutOfMemory' },
    });
  });

  it.each([
    ['is gone', undefined, 'PodDeleted'],
    ['was drained', pod({ ...exited(143), ...disrupted('EvictionByEvictionAPI') }), 'PodDrained'],
    ['was preempted', pod({ ...exited(143), ...disrupted('PreemptionByScheduler') }), 'PodPreempted'],
    [
      'was evicted',
      pod({ phase: 'Failed', reason: 'Evicted', ...disrupted('TerminationByKubelet', 'low on memory') }),
      'PodEvicted',
    ],
    ['lost its node', pod(disrupted('DeletionByTaintManager'), { deletionTimestamp: time(-60_000) }), 'NodeLost'],
    ['was deleted and has stopped', pod(exited(143), { deletionTimestamp: time(10_000) }), 'PodDeleted'],
  ])('AMB-197 that %s is lost through no fault of the agent', (_title, lost, reason) => {
    expect(decidePod(lost, at)).toMatchObject({ kind: 'lost', why: { reason } });
  });

  it('AMB-197 that wrote too much to its disk is not', () => {
    const greedy = pod({ phase: 'Failed', reason: 'Evicted', message: 'ephemeral storage' });
    expect(decidePod(greedy, at)).toMatchObject({ kind: 'failed', why: { reason: 'StorageExceeded' } });
  });

  it('AMB-197 that is going is waited for until its node counts as silent', () => {
    const going = pod(running, { deletionTimestamp: time(10_000) });
    expect(decidePod(going, at)).toMatchObject({ kind: 'waits', lookAt: at + 25_000 });
    expect(decidePod(going, at + 25_000)).toMatchObject({ kind: 'lost', why: { reason: 'NodeLost' } });
  });

  it.each([
    [1, 2],
    [2, 3],
    [3, 4],
    [4, undefined],
    [5, undefined],
  ])('AMB-197 %i is followed by %s', (attempt, next) => {
    expect(nextAttempt(attempt)).toBe(next);
  });
});

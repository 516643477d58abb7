import { describe, expect, it } from 'vitest';
import type { AgentExecution, AgentExecutionSpec, AgentExecutionStatus } from '../../crds/schema/agent-execution.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { agentLimits } from './limits.ts';
import { begins, ends, endsByPod, lostTooOften, names, replaces, rest, restForAgent, withoutRoom } from './moves.ts';

const at = Date.parse('2026-01-02T00:00:00Z');
const time = (ms: number): string => new Date(at + ms).toISOString();
const agent = { name: 'reviewer', namespace: 'a', uid: 'u', version: '1', revision: 'r' };

const execution = (status: AgentExecutionStatus = {}, spec: Partial<AgentExecutionSpec> = {}): AgentExecution => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: { name: 'run', namespace: 'a', uid: 'e', creationTimestamp: time(0) },
  spec: { agent: 'reviewer', ...spec },
  status: { phase: 'running', agent, started_at: time(0), deadline: time(900_000), ...status },
});
const why = { reason: 'QuotaExceeded', message: 'exceeded quota' } as const;

describe('an execution of an agent rests', () => {
  it('for as long as it is asked to, and shows why', () => {
    const { status, again } = rest(execution(), at, { why, againMs: 5_000 });
    expect(again).toEqual({ requeueAfterMs: 5_000, reason: 'QuotaExceeded' });
    expect(status).toMatchObject({ phase: 'running', ...why });
  });

  it('no longer than to its deadline', () => {
    expect(rest(execution(), at).again).toEqual({ requeueAfterMs: 900_000, reason: 'deadline' });
    expect(rest(execution(), at + 900_001).again).toMatchObject({ requeueAfterMs: 0 });
  });

  it('until something wakes it where it has not begun', () => {
    const { deadline: _deadline, agent: _agent, ...status } = execution().status ?? {};
    expect(rest({ ...execution(), status }, at).again).toBeUndefined();
  });

  it.each([
    [0, agentLimits.lookAgainMs],
    [agentLimits.unknownMs, agentLimits.agentAgainMs],
  ])('for its agent: %i ms after its creation %i ms', (age, againMs) => {
    const missing = { reason: 'AgentNotFound', message: 'no agent' } as const;
    expect(restForAgent(execution(), at + age, missing).again).toEqual({
      requeueAfterMs: againMs,
      reason: 'AgentNotFound',
    });
  });
});

describe('an execution of an agent goes on', () => {
  it('with its definition and its deadline, and with what was read of the agent', () => {
    const spec = { runtime: {}, execution: { timeout: '2m' } } as never;
    const move = begins(execution({}, { timeout: '1m' }), at, { agent, spec });
    expect(move).toMatchObject({ kind: 'goes_on', agent: spec, status: { agent, deadline: time(60_000) } });
  });

  it('with the uid of its pod, which may attest from then on', () => {
    const pod = { metadata: { name: 'run-1', uid: 'p' } } as Pod;
    expect(names(execution(), at, { attempt: 2, pod }).status.pod).toEqual({ name: 'run-1', uid: 'p', attempt: 2 });
  });

  it('AMB-197 with another pod: the lost one is released before the status forgets it', () => {
    const lost = { reason: 'NodeLost', message: 'its node is away' } as const;
    const move = replaces(execution({ pod: { name: 'run-1', uid: 'p', attempt: 1 } }), at, lost);
    expect(move?.status.pod).toEqual({ name: 'run-1', attempt: 2 });
    expect(move?.actions).toEqual([{ kind: 'release_pod' }, { kind: 'record_loss', why: lost }]);
  });
});

describe('an execution of an agent ends', () => {
  const refused = { kind: 'waits', why, inLine: false } as const;

  it('where no room was found for its first pod within an hour', () => {
    expect(withoutRoom(execution(), at + agentLimits.queueMs - 1, refused)).toMatchObject({ kind: 'rests' });
    expect(withoutRoom(execution(), at + agentLimits.queueMs, refused)).toMatchObject({
      kind: 'ends',
      end: { phase: 'failed', ...why },
    });
  });

  it('not for want of room where it has had a pod', () => {
    const second = execution({ pod: { name: 'run-1', attempt: 2 }, deadline: time(2 * agentLimits.queueMs) });
    expect(withoutRoom(second, at + agentLimits.queueMs, refused)).toMatchObject({
      kind: 'rests',
      again: { requeueAfterMs: agentLimits.roomMs },
    });
  });

  it('later where it is in the line of a quota, which wakes it', () => {
    const { again } = withoutRoom(execution(), at, { ...refused, inLine: true }) as ReturnType<typeof rest>;
    expect(again).toMatchObject({ requeueAfterMs: agentLimits.quotaMs });
  });

  it('AMB-197 with its fourth pod, and says how the last one was lost', () => {
    const last = execution({ pod: { name: 'run-4', uid: 'p', attempt: 4 } });
    const lost = { reason: 'NodeLost', message: 'its node is away' } as const;
    expect(replaces(last, at, lost)).toBeUndefined();
    const message = 'the pod was lost 4 times; at last: NodeLost: its node is away';
    expect(lostTooOften(last, lost)).toEqual({ reason: 'PodLost', message });
  });

  it('by its pod, unless the outcome may be on its way', () => {
    const end = { reason: 'PodFailed', message: 'exit code 1' } as const;
    expect(endsByPod(execution(), at, { ...end, isPending: false })).toMatchObject({ kind: 'ends', end });
    expect(endsByPod(execution(), at, { ...end, isPending: true })).toMatchObject({
      kind: 'rests',
      again: { requeueAfterMs: agentLimits.outcomeMs },
    });
  });

  it('with the status that stays', () => {
    const { status } = ends(execution(), at, { phase: 'cancelled', reason: 'Cancelled', message: 'by ann' });
    expect(status).toMatchObject({ phase: 'cancelled', finished_at: time(0) });
  });
});

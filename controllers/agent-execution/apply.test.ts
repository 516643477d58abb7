import { expect, it } from 'vitest';
import { labels } from '../../crds/labels.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { apply } from './apply.ts';
import { failed } from './decide.ts';
import { ends, type Move, replaces } from './moves.ts';

const at = Date.parse('2026-01-02T00:00:00Z');
const execution: AgentExecution = {
  apiVersion: 'windlass.dev/v1',
  kind: 'AgentExecution',
  metadata: { name: 'run', namespace: 'a', uid: 'e', resourceVersion: '1' },
  spec: { agent: 'reviewer' },
  status: { phase: 'running', pod: { name: 'run-1', uid: 'p', attempt: 1 } },
};
const pod: Pod = {
  metadata: { name: 'run-1', namespace: 'a', uid: 'p', labels: { [labels.executionUid]: 'e' } },
  spec: { containers: [] },
};

/** The effects of a move, in their order. */
async function done(move: Move): Promise<string[]> {
  const order: string[] = [];
  const kube = {
    delete: async () => order.push('delete the pod'),
    jsonPatchStatus: async () => {
      order.push('write the status');
      return execution;
    },
  };
  await apply(
    {
      kube: kube as never,
      pods: { get: () => pod },
      events: { record: ({ reason }) => void order.push(`Event ${reason}`), flush: async () => undefined },
      executions: { remember: () => undefined },
      quota: { leave: () => void order.push('leave the line') },
      onEnd: (reason) => void order.push(`count ${reason}`),
    },
    move,
  );
  return order;
}

it('AMB-197 a lost pod is deleted before the status forgets it', async () => {
  const move = replaces(execution, at, { reason: 'NodeLost', message: 'its node is away' });
  if (move === undefined) throw new Error('no pod takes its place');
  expect(await done(move)).toEqual(['delete the pod', 'Event NodeLost', 'write the status']);
});

it('an end is counted and raised as an Event once the status says so', async () => {
  const move = ends(execution, at, failed({ reason: 'PodFailed', message: 'exit code 1' }));
  expect(await done(move)).toEqual(['leave the line', 'write the status', 'count PodFailed', 'Event PodFailed']);
});

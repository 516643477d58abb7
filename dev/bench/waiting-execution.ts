import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import { workflowExecutions } from '../../test/cluster/harness/kinds.ts';
import { waitForObject } from '../../test/cluster/harness/wait.ts';
import type { BenchApi } from './api.ts';
import { type BenchCluster, register } from './bench-cluster.ts';

/** Some text on the Blackboard, and then a question without an answer: a running execution is read from the cache. */
function waiting(): WorkflowSpec {
  const env = Object.fromEntries(['plan', 'branch', 'owner', 'summary'].map((key) => [key, `${key} `.repeat(20)]));
  return {
    version: '1.0.0',
    initial_state: 'note',
    states: {
      note: { kind: 'System', command: 'update_context', env, transitions: [{ target: 'ask' }] },
      ask: { kind: 'Human', prompt: 'Go on?', transitions: [] },
    },
  };
}

/**
 * Starts an execution and gives its id when it waits. The process that moved it there is stopped: from then on it is
 * only read.
 */
export async function waitingExecution(bench: BenchCluster): Promise<string> {
  const { process: controllers } = await bench.controllers();
  await register(bench, 'waiting', waiting());
  const ref = { namespace: bench.namespace, name: 'read' };
  await bench.kube.create(workflowExecutions, {
    apiVersion: 'windlass.dev/v1',
    kind: 'WorkflowExecution',
    metadata: ref,
    spec: { workflow: 'waiting', input: { ticket: 4711, labels: ['red', 'green', 'blue'] } },
  });
  const followed = { resource: workflowExecutions, ...ref };
  const { metadata } = await waitForObject(bench.kube, followed, ({ status }) => status?.phase === 'waiting');
  await controllers.stop();
  return metadata.uid ?? '';
}

export const readOf = ({ url }: BenchApi, id: string): URL => new URL(`/v1/workflows/executions/${id}`, url);

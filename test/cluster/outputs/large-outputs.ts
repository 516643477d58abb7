import { createHash } from 'node:crypto';
import { limits } from '../../../crds/limits.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { type KubeClient, pods } from '../../../lib/kube/index.ts';
import { aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { waitForNone } from '../harness/wait.ts';

export const mebibyte = 1_048_576;
export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Writes so much that cannot be compressed to stdout, and to stderr its hash. */
export const randomWithHash = (bytes: number): string =>
  `head -c ${bytes} /dev/urandom >noise; cat noise; sha256sum <noise | cut -c 1-64 >&2`;

/** A mebibyte on each stream, different on every visit; `source` makes an endless flow. */
export const twoMebibytes = (source: string): string =>
  `${source} | head -c ${mebibyte}; { ${source} | head -c ${mebibyte}; } >&2`;
export const compressible = 'yes "$(cat /proc/sys/kernel/random/uuid)"';
export const incompressible = 'cat /dev/urandom';

/** Six states in a ring that only the number of transitions ends, by default the largest legal one. */
export function ring(name: string, script: string, transitions: number = limits.transitionsMax): Workflow {
  const builder = aWorkflow(name).with({ max_total_transitions: transitions });
  for (let index = 0; index < 6; index += 1) {
    const next = `s${(index + 1) % 6}`;
    builder.state(`s${index}`, aScript(script, { next, max_state_visits: limits.stateVisitsMax }));
  }
  return builder.build();
}

export const statusBytes = ({ status }: WorkflowExecution): number => Buffer.byteLength(JSON.stringify(status));

export interface Place {
  readonly kube: KubeClient;
  readonly namespace: string;
}

export async function run(
  { kube, namespace }: Place,
  workflow: Workflow,
  timeoutMs = 120_000,
): Promise<WorkflowExecution> {
  const { name } = workflow.metadata;
  await ensureWorkflow(kube, { ...workflow, metadata: { name, namespace } });
  await startExecution(kube, { namespace, name }, { workflow: name });
  return waitUntilFinished(kube, { namespace, name }, { timeoutMs });
}

/** A step's pod is kept while its state is remembered; its deletion must lose nothing. */
export async function deletePods({ kube, namespace }: Place, { metadata }: WorkflowExecution): Promise<void> {
  const labelSelector = `windlass.dev/execution-uid=${metadata.uid}`;
  await kube.deleteCollection(pods, { namespace, labelSelector }, { gracePeriodSeconds: 0 });
  await waitForNone(kube, { resource: pods, namespace, labelSelector });
}

import { expect, it } from 'vitest';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { AppError } from '../../../lib/errors.ts';
import { KubeError } from '../../../lib/kube/kube-error.ts';
import { anExecution } from '../../../test/builders/execution-builder.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import type { KubernetesDeps } from './deps.ts';
import { createLogs } from './logs.ts';

const at = (resourceVersion: string): WorkflowExecution => {
  const execution = anExecution().build();
  return { ...execution, metadata: { ...execution.metadata, resourceVersion } };
};
const notFound = new KubeError(404, { reason: 'NotFound', message: 'not found' }, { verb: 'get', resource: 'x' });
const away = new KubeError(503, { message: 'try again' }, { verb: 'get', resource: 'x' });

/** Versions that are seen of an execution at version 1, of which the API server then answers this and falls silent. */
async function versionsSeen(...answers: readonly (WorkflowExecution | Error)[]): Promise<(string | undefined)[]> {
  const stop = new AbortController();
  const clock = createManualClock();
  const rest = [...answers];
  const get = async () => {
    const next = rest.shift() ?? at('end');
    if (next instanceof Error) throw next;
    return next;
  };
  const logs = createLogs({ kube: { get }, clock } as unknown as KubernetesDeps);
  const seen: (string | undefined)[] = [];
  const reading = (async () => {
    for await (const { metadata } of logs.changes(at('1'), stop.signal)) {
      seen.push(metadata.resourceVersion);
      if (metadata.resourceVersion === 'end') stop.abort();
    }
  })();
  for (let turn = 0; turn < 10 && !stop.signal.aborted; turn++) await Promise.race([clock.advance(300), reading]);
  await reading;
  return seen;
}

it('following logs survives an API server that is away for a moment', async () => {
  const lost = new AppError('unavailable', 'reset');
  expect(await versionsSeen(at('2'), lost, away, at('3'))).toEqual(['1', '2', '2', '2', '3', 'end']);
});

it('following logs ends when the execution is deleted', async () => {
  await expect(versionsSeen(at('2'), notFound)).rejects.toMatchObject({ reason: 'Deleted' });
});

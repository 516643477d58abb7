import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { anEnd, aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { workflowExecutions } from './harness/kinds.ts';
import { openStage, type Stage } from './harness/stage.ts';
import { waitForNone } from './harness/wait.ts';
import { windlass } from './outputs/command-line.ts';
import {
  deletePods,
  incompressible,
  mebibyte,
  type Place,
  randomWithHash,
  ring,
  run,
  sha256,
  statusBytes,
  twoMebibytes,
} from './outputs/large-outputs.ts';
import { retryWithoutOrigin } from './outputs/taken-over.ts';
import { type S3Server, startS3Server } from './outputs/s3-server.ts';

/** While controllers with the bucket still run: no other process can empty it and release the executions. */
async function deleteExecutions({ kube, namespace }: Place): Promise<void> {
  await kube.deleteCollection(workflowExecutions, { namespace });
  await waitForNone(kube, { resource: workflowExecutions, namespace });
}

describe.concurrent('outputs in S3', () => {
  let stage: Stage;
  let server: S3Server;
  const large = (name: string): Workflow =>
    aWorkflow(name)
      .with({ output_template: { size: '{{length write.output.stdout}}' } })
      .state('write', aScript(twoMebibytes(incompressible)))
      .build();

  beforeAll(async () => {
    server = await startS3Server();
    stage = await openStage('outputs-s3');
    await stage.controllers(await stage.proxy('s3'), server.env);
  });
  afterAll(async () => {
    await deleteExecutions(stage);
    await stage.strike();
    await server.stop();
  });

  const keysOf = async ({ metadata }: WorkflowExecution): Promise<string[]> => {
    const keys = await server.keys();
    return keys.filter((key) => key.startsWith(`tests/${metadata.namespace}/${metadata.uid}/`));
  };

  it('of an origin are copied inside the bucket for its retry, which reads them once the origin is deleted', async () => {
    const again = await retryWithoutOrigin(stage, { name: 'wide', states: 1 }, async (origin, successor) => {
      expect(await keysOf(origin)).toEqual([]);
      expect(await keysOf(successor)).toHaveLength(6);
    });
    expect(again.status).toMatchObject({
      phase: 'completed',
      final_output: { read: `${mebibyte} ${mebibyte}\n` },
    });
  });

  it('AMB-022 are read by windlass logs with the bucket, and without it the error says what to set', async () => {
    const workflow = aWorkflow('bucket')
      .state('write', aScript(randomWithHash(500_000)))
      .build();
    const execution = await run(stage, workflow);
    expect(execution.status?.phase).toBe('completed');
    expect(execution.metadata.finalizers).toEqual(['windlass.dev/outputs']);
    expect(await keysOf(execution)).not.toEqual([]);
    await deletePods(stage, execution);
    const read = (stream: string, env = server.env) => windlass(stage.namespace, ['logs', 'bucket', stream], env);
    const { stdout } = await read('--stdout');
    expect(sha256(stdout)).toBe((await read('--stderr')).stdout.toString().trim());
    const { code, stderr } = await read('--stdout', {});
    expect(code).not.toBe(0);
    expect(stderr.toString()).toContain('WINDLASS_S3_BUCKET');
  });

  it('AMB-022 an execution that stores nothing has no finalizer', async () => {
    const execution = await run(stage, aWorkflow('small').state('end', anEnd()).build());
    expect(execution.metadata.finalizers).toBeUndefined();
    expect(await keysOf(execution)).toEqual([]);
  });

  it('AMB-022 go with their execution', async () => {
    const execution = await run(stage, large('going'));
    expect(await keysOf(execution)).toHaveLength(2);
    const ref = { namespace: stage.namespace, name: 'going' };
    await stage.kube.delete(workflowExecutions, ref, { propagation: 'Background' });
    await waitForNone(stage.kube, { resource: workflowExecutions, ...ref, fieldSelector: 'metadata.name=going' });
    expect(await keysOf(execution)).toEqual([]);
  });

  it('AMB-022 25 visits of 2 MiB that cannot be compressed fit, more than ConfigMaps take', {
    timeout: 400_000,
  }, async () => {
    const execution = await run(stage, ring('ring', twoMebibytes(incompressible), 24), 360_000);
    expect(execution.status).toMatchObject({ reason: 'MaxTransitionsExceeded', transitions: 24 });
    expect(50 * mebibyte).toBeGreaterThan(limits.configMapStoreBytes);
    expect(statusBytes(execution)).toBeLessThan(limits.statusBytes);
    expect(execution.status?.stored_bytes).toBeGreaterThan(50 * mebibyte);
    expect(await keysOf(execution)).toHaveLength(50);
    const { stdout } = await windlass(stage.namespace, ['logs', 'ring', 's0', '--visit', '1', '--stdout'], server.env);
    expect(stdout.byteLength).toBe(mebibyte);
  });
});

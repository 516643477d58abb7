import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { configMaps, type KubeClient, pods } from '../../lib/kube/index.ts';
import { anEnd, aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from './harness/executions.ts';
import { workflowExecutions } from './harness/kinds.ts';
import { openStage, type Stage } from './harness/stage.ts';
import { type UsedControllers, useControllers } from './harness/used-controllers.ts';
import { waitForNone } from './harness/wait.ts';
import { windlass } from './outputs/command-line.ts';
import { type S3Server, startS3Server } from './outputs/s3-server.ts';

const mebibyte = 1_048_576;
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Writes so much that cannot be compressed to stdout, and to stderr its hash. */
const randomWithHash = (bytes: number): string =>
  `head -c ${bytes} /dev/urandom >noise; cat noise; sha256sum <noise | cut -c 1-64 >&2`;

/** A mebibyte on each stream, different on every visit; `source` makes an endless flow. */
const twoMebibytes = (source: string): string =>
  `${source} | head -c ${mebibyte}; { ${source} | head -c ${mebibyte}; } >&2`;
const compressible = 'yes "$(cat /proc/sys/kernel/random/uuid)"';
const incompressible = 'cat /dev/urandom';

/** Six states in a ring that only the largest legal number of transitions ends. */
function ring(name: string, script: string): Workflow {
  const builder = aWorkflow(name).with({ max_total_transitions: limits.transitionsMax });
  for (let index = 0; index < 6; index += 1) {
    const next = `s${(index + 1) % 6}`;
    builder.state(`s${index}`, aScript(script, { next, max_state_visits: limits.stateVisitsMax }));
  }
  return builder.build();
}

const statusBytes = ({ status }: WorkflowExecution): number => Buffer.byteLength(JSON.stringify(status));

interface Place {
  readonly kube: KubeClient;
  readonly namespace: string;
}

async function run({ kube, namespace }: Place, workflow: Workflow, timeoutMs = 120_000): Promise<WorkflowExecution> {
  const { name } = workflow.metadata;
  await ensureWorkflow(kube, { ...workflow, metadata: { name, namespace } });
  await startExecution(kube, { namespace, name }, { workflow: name });
  return waitUntilFinished(kube, { namespace, name }, { timeoutMs });
}

/** A step's pod is kept while its state is remembered; whoever deletes it must lose nothing. */
async function deletePods({ kube, namespace }: Place, { metadata }: WorkflowExecution): Promise<void> {
  const labelSelector = `windlass.dev/execution-uid=${metadata.uid}`;
  await kube.deleteCollection(pods, { namespace, labelSelector }, { gracePeriodSeconds: 0 });
  await waitForNone(kube, { resource: pods, namespace, labelSelector });
}

/** While controllers with the bucket still run: nobody else can empty it and let the executions go. */
async function deleteExecutions({ kube, namespace }: Place): Promise<void> {
  await kube.deleteCollection(workflowExecutions, { namespace });
  await waitForNone(kube, { resource: workflowExecutions, namespace });
}

describe('outputs in ConfigMaps', () => {
  let used: UsedControllers;

  beforeAll(async () => {
    used = await useControllers('outputs');
  });
  afterAll(() => used?.release());

  it('AMB-022 WF-CR-19 a mebibyte on each stream leaves status small, and both outlive the pod byte for byte', async () => {
    const workflow = aWorkflow('both-streams')
      .state('write', aScript(`head -c ${mebibyte} /dev/urandom >noise; cat noise; cat noise >&2`))
      .build();
    const execution = await run(used, workflow);
    expect(execution.status).toMatchObject({ phase: 'completed' });
    expect(statusBytes(execution)).toBeLessThan(8 * 1024);
    await deletePods(used, execution);
    const { stdout, stderr, code } = await windlass(used.namespace, ['logs', 'both-streams']);
    expect(code).toBe(0);
    expect([stdout.byteLength, stderr.byteLength]).toEqual([mebibyte, mebibyte]);
    expect(stdout.equals(stderr)).toBe(true);
  });

  it.each([1, 255, 2_047, 2_049, 100_000])(
    'WF-CR-19 %i bytes that are no text come out of windlass logs as they were written',
    async (bytes) => {
      const execution = await run(
        used,
        aWorkflow(`binary-${bytes}`)
          .state('write', aScript(randomWithHash(bytes)))
          .build(),
      );
      await deletePods(used, execution);
      const { stdout } = await windlass(used.namespace, ['logs', execution.metadata.name, '--stdout']);
      const { stdout: hash } = await windlass(used.namespace, ['logs', execution.metadata.name, '--stderr']);
      expect(stdout.byteLength).toBe(bytes);
      expect(sha256(stdout)).toBe(hash.toString().trim());
    },
  );

  it('AMB-022 100 transitions of 2 MiB of output each keep status below 256 KiB', { timeout: 900_000 }, async () => {
    const execution = await run(used, ring('ring', twoMebibytes(compressible)), 840_000);
    expect(execution.status).toMatchObject({ reason: 'MaxTransitionsExceeded', transitions: 100 });
    expect(statusBytes(execution)).toBeLessThan(limits.statusBytes);
    for (const args of [
      ['s0', '--visit', '1'],
      ['s5', '--visit', '16'],
      ['s4', '--visit', '17'],
    ]) {
      const { stdout, stderr } = await windlass(used.namespace, ['logs', 'ring', ...args]);
      expect([args, stdout.byteLength, stderr.byteLength]).toEqual([args, mebibyte, mebibyte]);
    }
  });

  it('AMB-022 the state that goes beyond the budget fails, and everything from before is still there', async () => {
    const fill = aScript(twoMebibytes(incompressible), { max_state_visits: limits.stateVisitsMax });
    const workflow = aWorkflow('budget')
      .state('fill', {
        ...fill,
        transitions: [
          { condition: 'on_success', target: 'fill' },
          { condition: 'on_failure', target: 'after' },
        ],
      })
      .state('after', aScript('echo still here'))
      .build();
    const execution = await run(used, workflow, 170_000);
    const { status } = execution;
    expect(status?.phase).toBe('completed');
    expect(status?.stored_bytes).toBeLessThanOrEqual(limits.configMapStoreBytes);
    const fills = status?.history?.filter(({ state }) => state === 'fill') ?? [];
    expect(fills.map((visit) => visit.reason ?? 'stored')).toEqual([
      ...Array.from({ length: 15 }, () => 'stored'),
      'OutputBudgetExceeded',
    ]);
    await deletePods(used, execution);
    for (const visit of ['1', '8', '15']) {
      const { stdout } = await windlass(used.namespace, ['logs', 'budget', 'fill', '--visit', visit, '--stdout']);
      expect([visit, stdout.byteLength]).toEqual([visit, mebibyte]);
    }
    const last = await windlass(used.namespace, ['logs', 'budget', 'after', '--stdout']);
    expect(last.stdout.toString()).toBe('still here\n');
  });

  it('WF-CR-19 deleting an execution deletes what it stored', async () => {
    const { metadata } = await run(
      used,
      aWorkflow('gone')
        .state('write', aScript(randomWithHash(10_000)))
        .build(),
    );
    const { kube, namespace } = used;
    const labelSelector = `windlass.dev/execution-uid=${metadata.uid}`;
    expect((await kube.listAll(configMaps, { namespace, labelSelector })).items).not.toEqual([]);
    await kube.delete(workflowExecutions, { namespace, name: 'gone' }, { propagation: 'Background' });
    await waitForNone(kube, { resource: configMaps, namespace, labelSelector });
  });
});

describe('outputs in S3', () => {
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

  it('AMB-022 100 transitions of 2 MiB that cannot be compressed fit as well', { timeout: 900_000 }, async () => {
    const execution = await run(stage, ring('ring', twoMebibytes(incompressible)), 840_000);
    expect(execution.status).toMatchObject({ reason: 'MaxTransitionsExceeded', transitions: 100 });
    expect(statusBytes(execution)).toBeLessThan(limits.statusBytes);
    expect(execution.status?.stored_bytes).toBeGreaterThan(202 * mebibyte);
    expect(await keysOf(execution)).toHaveLength(202);
    const { stdout } = await windlass(stage.namespace, ['logs', 'ring', 's0', '--visit', '1', '--stdout'], server.env);
    expect(stdout.byteLength).toBe(mebibyte);
  });
});

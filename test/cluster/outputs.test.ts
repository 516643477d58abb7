import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { configMaps, type KubeObject, metadataOf } from '../../lib/kube/index.ts';
import { aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { workflowExecutions } from './harness/kinds.ts';
import { type UsedControllers, useControllers } from './harness/used-controllers.ts';
import { waitForNone, waitForView } from './harness/wait.ts';
import { windlass } from './outputs/command-line.ts';
import {
  compressible,
  deletePods,
  incompressible,
  mebibyte,
  randomWithHash,
  ring,
  run,
  sha256,
  statusBytes,
  twoMebibytes,
} from './outputs/large-outputs.ts';
import { retryWithoutOrigin } from './outputs/taken-over.ts';

describe.concurrent('outputs in ConfigMaps', () => {
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

  // The test of controllers/execution/engine/decide.ts proves the same of 100 transitions, without pods.
  it('AMB-022 24 transitions of 2 MiB of output each keep status below their part of 256 KiB', {
    timeout: 400_000,
  }, async () => {
    const transitions = 24;
    const execution = await run(used, ring('ring', twoMebibytes(compressible), transitions), 360_000);
    expect(execution.status).toMatchObject({ reason: 'MaxTransitionsExceeded', transitions });
    expect(statusBytes(execution)).toBeLessThan((limits.statusBytes * transitions) / limits.transitionsMax);
    for (const args of [
      ['s0', '--visit', '1'],
      ['s5', '--visit', '4'],
      ['s0', '--visit', '5'],
    ]) {
      const { stdout, stderr } = await windlass(used.namespace, ['logs', 'ring', ...args]);
      expect([args, stdout.byteLength, stderr.byteLength]).toEqual([args, mebibyte, mebibyte]);
    }
  });

  it('AMB-022 the state that exceeds the budget fails, and everything from before is still there', {
    timeout: 400_000,
  }, async () => {
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
    const execution = await run(used, workflow, 360_000);
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

  it('a retry reads 18 MiB that its origin stored after the origin is deleted, and deletes them with itself', {
    timeout: 420_000,
  }, async () => {
    const { kube, namespace } = used;
    let labelSelector = '';
    const again = await retryWithoutOrigin(used, { name: 'wide', states: 3 }, async (origin, { metadata, status }) => {
      labelSelector = `windlass.dev/execution-uid=${origin.metadata.uid}`;
      expect(status?.stored_bytes).toBeUndefined();
      const refs = Object.values(status?.blackboard ?? {}).flatMap((stored) => stored.refs ?? []);
      expect(new Set(refs.map(({ ref }) => ref)).size).toBe(18);
      expect(new Set(refs.map(({ stored_by }) => stored_by))).toEqual(new Set([origin.metadata.uid]));
      // The garbage collector looks at each of them once the origin is none of its owners any more.
      const own = { resource: metadataOf(configMaps), namespace, labelSelector };
      const isAlone = (view: ReadonlyMap<string, KubeObject>): true | undefined => {
        const owners = [...view.values()].flatMap((one) => one.metadata.ownerReferences ?? []);
        return owners.every(({ uid }) => uid === metadata.uid) && view.size > 0 ? true : undefined;
      };
      await waitForView(kube, own, isAlone, { what: 'outputs of which the successor is the only owner' });
    });
    expect(again.status).toMatchObject({
      phase: 'completed',
      final_output: { read: `${mebibyte} ${mebibyte}\n` },
    });
    const { stdout, code } = await windlass(namespace, ['get', 'wide-again', '--full', '-o', 'json']);
    expect(code).toBe(0);
    expect(stdout.byteLength).toBeGreaterThan(18 * mebibyte);
    await kube.delete(workflowExecutions, { namespace, name: 'wide-again' }, { propagation: 'Background' });
    await waitForNone(kube, { resource: configMaps, namespace, labelSelector });
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

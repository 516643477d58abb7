import { describe, expect, it } from 'vitest';
import { captureFinalizer } from '../../crds/labels.ts';
import type { ContainerState, Pod, PodStatus } from '../../lib/kube/index.ts';
import { slotMetadata } from '../../lib/pod-slot.ts';
import { begin } from '../../test/builders/execution-builder.ts';
import { anOutcome } from '../../test/builders/world.ts';
import { outcomeOfLoss } from './captured-outcome.ts';
import { observePod } from './observe-pod.ts';

const aPod = (state: ContainerState | undefined, status: PodStatus = {}, metadata: object = {}): Pod => ({
  metadata: {
    name: 'p',
    namespace: 'n',
    uid: 'u',
    finalizers: [captureFinalizer],
    ...slotMetadata({ state: 's', visit: 1, attempt: 1 }),
    ...metadata,
  },
  spec: { containers: [], nodeName: 'node7' },
  status: { ...status, ...(state === undefined ? {} : { containerStatuses: [{ name: 'step', state }] }) },
});
const unknown = () => undefined;
const gone = new Date(begin).toISOString();
const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager', message: 'taint' };

describe('what a pod tells', () => {
  it.each([
    { waiting: 'ImagePullBackOff', reason: 'ImagePullFailed' },
    { waiting: 'ErrImageNeverPull', reason: 'ImagePullFailed' },
    { waiting: 'InvalidImageName', reason: 'ImagePullFailed' },
    { waiting: 'CreateContainerConfigError', reason: 'ContainerStartFailed' },
    { waiting: 'RunContainerError', reason: 'ContainerStartFailed' },
    { waiting: 'ErrImagePull', reason: undefined },
    { waiting: 'ContainerCreating', reason: undefined },
    { waiting: 'SomethingNew', reason: undefined },
  ])('AMB-078 a container that waits with $waiting has failed to start: $reason', ({ waiting, reason }) => {
    const fact = observePod(aPod({ waiting: { reason: waiting, message: 'why' } }), unknown, begin);
    expect(fact?.outcome?.failure?.reason).toBe(reason);
    expect(fact?.ended).toBe(false);
  });

  it.each([
    { reason: 'Evicted', want: 'PodEvicted' },
    { reason: 'NodeShutdown', want: 'NodeLost' },
    { reason: 'UnexpectedAdmissionError', want: 'PodRejected' },
  ])('a pod that failed with $reason before its container ran is $want', ({ reason, want }) => {
    const fact = observePod(aPod(undefined, { phase: 'Failed', reason, message: 'm' }), unknown, begin);
    expect(fact?.outcome?.failure?.reason).toBe(want);
  });

  it.each([
    { ms: 14_999, lost: false },
    { ms: 15_000, lost: true },
  ])('NodeLost: a pod that was told to go and says nothing for $ms ms is lost: $lost', ({ ms, lost }) => {
    const pod = aPod({ running: {} }, { conditions: [disruption] }, { deletionTimestamp: gone });
    const fact = observePod(pod, unknown, begin + ms);
    expect(fact).toMatchObject({ lost, deleting: true, silentUntil: begin + 15_000 });
    expect(fact?.outcome?.failure?.reason).toBe(lost ? 'NodeLost' : undefined);
  });

  it('a pod that never got a node and is deleted is PodDeleted', () => {
    const pod = { ...aPod(undefined, {}, { deletionTimestamp: gone }), spec: { containers: [] } };
    expect(observePod(pod, unknown, begin + 20_000)?.outcome?.failure?.reason).toBe('PodDeleted');
  });

  it('an outcome is asked for only while the pod is held', () => {
    const pod = aPod({ running: {} });
    expect(observePod(pod, () => anOutcome(), begin)).toMatchObject({ held: true, ended: true });
    const released = aPod({ running: {} }, {}, { finalizers: [] });
    expect(observePod(released, () => anOutcome(), begin)?.outcome).toBeUndefined();
  });

  it('a pod without our labels is none of ours', () => {
    expect(observePod(aPod(undefined, {}, { annotations: {} }), unknown, begin)).toBeUndefined();
  });
});

describe('output that is lost', () => {
  it('a container killed for its memory is OutOfMemory with the exit code of the kubelet', () => {
    const pod = aPod({ terminated: { exitCode: 137, reason: 'OOMKilled' } });
    expect(outcomeOfLoss(new Error('x'), pod)).toMatchObject({ exitCode: 137, failure: { reason: 'OutOfMemory' } });
  });

  it('an exit code 0 without its output has failed all the same', () => {
    const pod = aPod({ terminated: { exitCode: 0 } });
    expect(outcomeOfLoss(new Error('log is gone'), pod).failure).toMatchObject({
      reason: 'CaptureFailed',
      message: expect.stringContaining('log is gone'),
    });
  });
});

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { captureFinalizer } from '../../crds/labels.ts';
import type { ContainerState, Pod, PodStatus } from '../../lib/kube/index.ts';
import { slotMetadata } from '../../lib/pod-slot.ts';
import { begin } from '../../test/builders/execution-builder.ts';
import { anOutcome } from '../../test/builders/world-pods.ts';
import { outcomeOfCapture, outcomeOfLoss } from './captured-outcome.ts';
import { isDisruption } from './disruption.ts';
import { observePod, toRead } from './observe-pod.ts';

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
const aKill = { name: 'step', state: { terminated: { exitCode: 137, reason: 'Error' } } };
const gone = new Date(begin).toISOString();
const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager', message: 'taint' };

describe('what a pod tells', () => {
  it.each([
    { waiting: 'InvalidImageName', reason: 'ImagePullFailed' },
    { waiting: 'ErrImageNeverPull', reason: 'ImagePullFailed' },
    { waiting: 'SignatureValidationFailed', reason: 'ImagePullFailed' },
    { waiting: 'PostStartHookError', reason: 'ContainerStartFailed' },
    { waiting: 'ErrImagePull', reason: undefined },
    { waiting: 'ImagePullBackOff', reason: undefined },
    { waiting: 'RegistryUnavailable', reason: undefined },
    { waiting: 'CreateContainerConfigError', reason: undefined },
    { waiting: 'CreateContainerError', reason: undefined },
    { waiting: 'RunContainerError', reason: undefined },
    { waiting: 'ContainerCreating', reason: undefined },
    { waiting: 'SomethingNew', reason: undefined },
  ])('AMB-190 a container that waits with $waiting has failed to start: $reason', ({ waiting, reason }) => {
    const fact = observePod(aPod({ waiting: { reason: waiting, message: 'why' } }), unknown, begin);
    expect(fact?.outcome?.failure?.reason).toBe(reason);
    expect(fact?.waiting === undefined).toBe(reason !== undefined);
    expect(fact?.ended).toBe(false);
  });

  it.each([
    { reason: 'Evicted', want: 'StorageExceeded', message: 'node node7: m' },
    { reason: 'NodeShutdown', want: 'NodeShutdown', message: 'node node7: m' },
    { reason: 'Terminated', want: 'NodeShutdown', message: 'node node7: m' },
    { reason: 'Preempting', want: 'PodPreempted', message: 'node node7: m' },
    { reason: 'NodeLost', want: 'NodeLost', message: 'node node7: m' },
    { reason: 'UnexpectedAdmissionError', want: 'PodRejected', message: 'UnexpectedAdmissionError: m' },
  ])('a pod that failed with $reason before its container ran is $want', ({ reason, want, message }) => {
    const fact = observePod(aPod(undefined, { phase: 'Failed', reason, message: 'm' }), unknown, begin);
    expect(fact?.outcome?.failure).toEqual({ reason: want, message });
  });

  it.each([
    { by: 'EvictionByEvictionAPI', reason: '', message: 'Eviction API: evicting', want: 'PodDrained' },
    { by: 'PreemptionByScheduler', reason: '', message: 'preempting to accommodate', want: 'PodPreempted' },
    { by: 'DeletionByTaintManager', reason: '', message: 'Taint manager: deleting', want: 'NodeLost' },
    { by: 'DeletionByPodGC', reason: '', message: 'PodGC: node no longer exists', want: 'NodeLost' },
    { by: 'TerminationByKubelet', reason: 'Evicted', message: 'low on resource: memory', want: 'PodEvicted' },
    { by: 'TerminationByKubelet', reason: '', message: 'low on resource: memory', want: 'PodEvicted' },
    { by: 'TerminationByKubelet', reason: '', message: 'in response to imminent node shutdown.', want: 'NodeShutdown' },
    { by: 'TerminationByKubelet', reason: '', message: 'Preempted to admit critical pod', want: 'PodPreempted' },
  ])('AMB-191 a pod taken away with $by, $reason, $message is $want, in the words of who took it', (row) => {
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: row.by, message: row.message }];
    const pod = aPod(undefined, { phase: 'Failed', reason: row.reason, conditions });
    const failure = { reason: row.want, message: `node node7: ${row.message}` };
    expect(observePod(pod, unknown, begin).outcome?.failure).toEqual(failure);
    expect(isDisruption(observePod(pod, unknown, begin).outcome?.failure)).toBe(true);
    const killed = { ...pod, status: { ...pod.status, containerStatuses: [aKill] } };
    expect(outcomeOfLoss(new Error('no log'), killed).failure).toEqual(failure);
  });

  it('a pod that failed without a word says so', () => {
    const failure = observePod(aPod(undefined, { phase: 'Failed' }), unknown, begin).outcome?.failure;
    expect(failure).toEqual({ reason: 'PodRejected', message: 'the pod failed, and its status does not say why' });
  });

  it.each([
    { reason: 'StartError', want: 'ContainerStartFailed' },
    { reason: 'ContainerStatusUnknown', want: 'NodeLost' },
    { reason: 'Error', want: undefined },
  ])('a container that ended with $reason is $want without its log being read', ({ reason, want }) => {
    const pod = aPod({ terminated: { exitCode: 128, reason, message: 'm' } });
    expect(observePod(pod, unknown, begin).outcome?.failure?.reason).toBe(want);
  });

  it.each([
    { ms: 14_999, lost: false },
    { ms: 15_000, lost: true },
  ])('NodeLost: a pod in deletion that is silent for $ms ms is lost: $lost', ({ ms, lost }) => {
    const pod = aPod({ running: {} }, { conditions: [disruption] }, { deletionTimestamp: gone });
    const fact = observePod(pod, unknown, begin + ms);
    expect(fact).toMatchObject({ lost, deleting: true, silentUntil: begin + 15_000 });
    expect(fact?.outcome?.failure?.reason).toBe(lost ? 'NodeLost' : undefined);
  });

  it('a pod that never got a node and is deleted is PodDeleted', () => {
    const pod = { ...aPod(undefined, {}, { deletionTimestamp: gone }), spec: { containers: [] } };
    expect(observePod(pod, unknown, begin + 20_000).outcome?.failure?.reason).toBe('PodDeleted');
  });

  it('an outcome is asked for only while the pod is held', () => {
    const pod = aPod({ running: {} });
    expect(observePod(pod, () => anOutcome(), begin)).toMatchObject({ held: true, ended: true });
    const released = aPod({ running: {} }, {}, { finalizers: [] });
    expect(observePod(released, () => anOutcome(), begin).outcome).toBeUndefined();
  });
});

describe('what a pod waits for', () => {
  const made = { creationTimestamp: new Date(begin).toISOString() };
  const cause = 'failed to pull and unpack image "r/x:1": dial tcp 10.0.0.9:443: connect: no route to host';
  const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/2 nodes' };

  it.each([
    { word: 'ErrImagePull', message: cause, want: { reason: 'WaitingForImage', message: cause } },
    {
      word: 'ImagePullBackOff',
      message: `Back-off pulling image "r/x:1": ErrImagePull: ${cause}`,
      want: { reason: 'WaitingForImage', message: cause },
    },
    { word: 'RegistryUnavailable', message: '', want: { reason: 'WaitingForImage', message: 'RegistryUnavailable' } },
    {
      word: 'CreateContainerError',
      message: 'name is taken',
      want: { reason: 'WaitingForContainer', message: 'CreateContainerError: name is taken' },
    },
  ])('is in the words of the kubelet, with the cause, and at once: $word', ({ word, message, want }) => {
    const pod = aPod({ waiting: { reason: word, message } }, {}, made);
    expect(observePod(pod, unknown, begin).waiting).toEqual({ ...want, since: 0 });
  });

  it('is in the words of the scheduler where no node has room', () => {
    const pod = aPod(undefined, { phase: 'Pending', conditions: [unscheduled] }, made);
    const want = { reason: 'WaitingForNode', message: 'Unschedulable: 0/2 nodes', since: 0 };
    expect(observePod(pod, unknown, begin).waiting).toEqual(want);
  });

  it('is worth showing after two seconds where nothing is wrong yet, with what its Events say', () => {
    const pod = aPod({ waiting: { reason: 'ContainerCreating' } }, {}, made);
    const want = { reason: 'WaitingForContainer', message: 'ContainerCreating', since: begin + 2_000 };
    expect(observePod(pod, unknown, begin).waiting).toEqual(want);
    const note = 'FailedMount: MountVolume.SetUp failed for volume "claim-0": no such share';
    expect(observePod(pod, unknown, begin, () => note).waiting).toEqual({ ...want, message: note });
  });

  it.each([
    { nodeName: undefined, message: 'Pending' },
    { nodeName: 'node1', message: 'ContainerCreating' },
  ])('of a pod without a word of a kubelet on the node $nodeName is $message', ({ nodeName, message }) => {
    const pod = aPod(undefined, {}, made);
    const { nodeName: _, ...spec } = pod.spec;
    const on = { ...pod, spec: nodeName === undefined ? spec : { ...spec, nodeName } };
    expect(observePod(on, unknown, begin).waiting?.message).toBe(message);
  });

  it('names the Secret that an image cannot be pulled without', () => {
    const pod = aPod({ waiting: { reason: 'ErrImagePull', message: cause } }, {}, made);
    const note = 'FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (team-registry)';
    expect(observePod(pod, unknown, begin, () => note).waiting?.message).toBe(`${cause}; ${note}`);
  });

  it.each([
    { clock: 'agrees', startedAt: begin + 1_000, want: begin + 1_000 },
    { clock: 'is behind the making of the pod', startedAt: begin - 3_600_000, want: Number.POSITIVE_INFINITY },
  ])('is over once the container runs; the clock of the node $clock', ({ startedAt, want }) => {
    const fact = observePod(
      aPod({ running: { startedAt: new Date(startedAt).toISOString() } }, {}, made),
      unknown,
      begin,
    );
    expect(fact).toMatchObject({ begunAt: want, waiting: undefined });
  });
});

describe('the end of a container', () => {
  const at = (ms: number) => new Date(begin + ms).toISOString();
  const made = { creationTimestamp: at(0) };

  it.each([
    { what: 'it runs', state: { running: { startedAt: at(0) } }, want: undefined },
    { what: 'without a time', state: { terminated: { exitCode: 0, startedAt: at(0) } }, want: undefined },
    {
      what: 'the kubelet gives its second',
      state: { terminated: { exitCode: 0, startedAt: at(0), finishedAt: at(5_000) } },
      want: begin + 6_000,
    },
    {
      what: 'the clock of the node is behind the making of the pod',
      state: { terminated: { exitCode: 0, startedAt: at(-9_000), finishedAt: at(-5_000) } },
      want: undefined,
    },
  ])('AMB-070 was at $want at the latest where $what', ({ state, want }) => {
    expect(observePod(aPod(state, {}, made), unknown, begin).endedAt).toBe(want);
  });
});

describe('memory that ran out', () => {
  const report = { bytes: 0, total_bytes: 0, sha256: createHash('sha256').digest('hex'), truncated: false };
  const captured = (trailer: object) => ({
    trailer: {
      v: 1,
      exit_code: 137,
      oom_killed: true,
      started_at: '2026-01-02T03:04:05Z',
      finished_at: '2026-01-02T03:04:06Z',
      duration_ms: 1,
      stdout: report,
      stderr: report,
      ...trailer,
    } as const,
    stdout: new Uint8Array(),
    stderr: new Uint8Array(),
  });

  it('is the reason of the failure in the trailer, before the kubelet has a word', () => {
    const outcome = outcomeOfCapture(captured({}), aPod({ running: {} }));
    expect(outcome).toMatchObject({ exitCode: 137, failure: { reason: 'OutOfMemory' } });
  });

  it.each([
    { what: 'a command that did without the killed process', trailer: { exit_code: 0 }, reason: undefined },
    { what: 'a command that failed otherwise', trailer: { oom_killed: false }, reason: 'ExitCode' },
    {
      what: 'a command that took too long',
      trailer: { reason: 'timeout', exit_code: 124 },
      reason: 'ContainerTimeout',
    },
  ])('is not the reason of $what', ({ trailer, reason }) => {
    expect(outcomeOfCapture(captured(trailer), aPod({ running: {} })).failure?.reason).toBe(reason);
  });
});

describe('output that is lost', () => {
  it('a container killed for its memory is OutOfMemory with the exit code of the kubelet', () => {
    const pod = aPod({ terminated: { exitCode: 137, reason: 'OOMKilled' } });
    expect(outcomeOfLoss(new Error('x'), pod)).toMatchObject({ exitCode: 137, failure: { reason: 'OutOfMemory' } });
  });

  it('an exit code 0 without its output is no failure, and says that output is lost', () => {
    const outcome = outcomeOfLoss(new Error('log is gone'), aPod({ terminated: { exitCode: 0 } }));
    expect(outcome).toMatchObject({ exitCode: 0, lost: 'log is gone' });
    expect(outcome.failure).toBeUndefined();
  });

  it('an unexplained end is CaptureFailed, with the known facts', () => {
    const outcome = outcomeOfLoss(new Error('log is gone'), aPod({ terminated: { exitCode: 137 } }));
    expect(outcome.failure).toEqual({ reason: 'CaptureFailed', message: 'exit code 137; log is gone' });
  });
});

it.each([
  { what: 'runs', state: { running: {} }, want: 'log' },
  { what: 'has ended', state: { terminated: { exitCode: 0 } }, want: 'log' },
  { what: 'has no container yet', state: undefined, want: 'events' },
  { what: 'cannot pull its image', state: { waiting: { reason: 'ErrImagePull', message: 'why' } }, want: 'events' },
  { what: 'will never start', state: { waiting: { reason: 'InvalidImageName', message: 'why' } }, want: undefined },
])('of a pod that $what, $want is to be read', ({ state, want }) => {
  expect(toRead(observePod(aPod(state), unknown, begin))).toBe(want);
});

it('nothing is to be read of a pod whose outcome is known, that was let go, or that waits for a node', () => {
  const unscheduled = { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] };
  for (const observation of [
    observePod(aPod({ running: {} }), () => anOutcome(), begin),
    observePod(aPod({ running: {} }, {}, { finalizers: [] }), unknown, begin),
    observePod(aPod(undefined, unscheduled), unknown, begin),
  ]) {
    expect(toRead(observation)).toBeUndefined();
  }
});

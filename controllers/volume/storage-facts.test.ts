import { describe, expect, it } from 'vitest';
import type { Volume } from '../../crds/schema/volume.ts';
import type { ContainerState, Pod } from '../../lib/kube/index.ts';
import { storageFacts } from './storage-facts.ts';

const volume: Volume = {
  apiVersion: 'windlass.dev/v1',
  kind: 'Volume',
  metadata: { name: 'data', namespace: 'tenant', uid: 'volume-uid' },
  spec: { storage_class: 'ephemeral' },
};

const pod = (phase: string, ...states: ContainerState[]): Pod => ({
  metadata: { name: 'step-1', namespace: 'tenant', uid: 'pod-uid', labels: { 'windlass.dev/execution-uid': 'e-1' } },
  spec: { containers: [] },
  status: { phase, containerStatuses: states.map((state, index) => ({ name: `c${index}`, state })) },
});

const running = (startedAt: string): ContainerState => ({ running: { startedAt } });
const ended = (startedAt: string, finishedAt: string): ContainerState => ({
  terminated: { exitCode: 0, startedAt, finishedAt },
});

const operations = (of: Pod) => storageFacts(volume, of).map(({ data, time }) => [data['operation'], time]);

describe('what a pod does to a volume', () => {
  it('ORCH-EVT-01 AMB-199 names the volume, the execution and the pod', () => {
    const [fact] = storageFacts(volume, pod('Running', running('2026-01-01T00:00:01Z')));
    expect(fact).toEqual({
      word: 'mount-pod-uid',
      topic: 'volume',
      type: 'StorageEvent',
      subject: 'volume-uid',
      namespace: 'tenant',
      time: '2026-01-01T00:00:01Z',
      data: {
        operation: 'mount',
        volume_id: 'volume-uid',
        volume: 'data',
        namespace: 'tenant',
        execution_id: 'e-1',
        pod: 'step-1',
      },
    });
  });

  it.each<[string, Pod, string[]]>([
    ['waits', pod('Pending', { waiting: {} }), []],
    ['runs', pod('Running', running('2026-01-01T00:00:01Z')), ['mount']],
    ['runs still in one container', pod('Running', running('b'), ended('a', 'c')), ['mount']],
    ['has succeeded', pod('Succeeded', ended('a', 'b')), ['mount', 'unmount']],
    ['has failed', pod('Failed', ended('a', 'b')), ['mount', 'unmount']],
    ['never began', pod('Failed'), []],
  ])('AMB-199 of a pod that %s is %j', (_what, of, want) => {
    expect(operations(of).map(([operation]) => operation)).toEqual(want);
  });

  it('AMB-199 begins with the first container and ends with the last', () => {
    const of = pod(
      'Succeeded',
      ended('2026-01-01T00:00:02Z', '2026-01-01T00:00:05Z'),
      ended('2026-01-01T00:00:01Z', '2026-01-01T00:00:09Z'),
    );
    expect(operations(of)).toEqual([
      ['mount', '2026-01-01T00:00:01Z'],
      ['unmount', '2026-01-01T00:00:09Z'],
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import type { Volume } from '../crds/schema/volume.ts';
import type { BusEvent } from '../lib/bus/index.ts';
import { createManualClock } from '../lib/manual-clock.ts';
import { after, anExecution, begin } from '../test/builders/execution-builder.ts';
import { createDomainEvents } from './domain-events.ts';

/** Seconds after `begin`. */
function setUp(now = 60) {
  const raised: BusEvent[] = [];
  const tenants = { tenantOf: (namespace: string) => (namespace === 'default' ? 'acme' : undefined) };
  const clock = createManualClock(begin + now * 1_000);
  const events = createDomainEvents({ events: { raise: (event) => void raised.push(event) }, clock, tenants });
  return { events, raised, clock };
}

function aVolume(spec: Partial<Volume['spec']> = {}, namespace = 'default'): Volume {
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'Volume',
    metadata: { name: 'data', namespace, uid: 'volume-uid' },
    spec: { storage_class: 'ephemeral', expires_at: after(30), ...spec },
    status: { claim_name: 'data' },
  };
}

describe('the end of an execution', () => {
  it.each([
    ['completed', 'WorkflowExecutionCompleted'],
    ['failed', 'WorkflowExecutionFailed'],
    ['cancelled', 'WorkflowExecutionCancelled'],
  ] as const)('%s is told as %s under the topic `workflow`', (phase, type) => {
    const { events, raised } = setUp();
    const execution = anExecution().ended(phase, 59).status({ reason: 'Because' }).build();
    events.executionEnded(execution);
    const { uid } = execution.metadata;
    expect(raised).toEqual([
      {
        id: `${uid}-ended`,
        topic: 'workflow',
        source: 'controllers',
        type,
        subject: uid,
        tenant: 'acme',
        time: after(59),
        data: {
          execution_id: uid,
          execution: 'demo-1',
          namespace: 'default',
          workflow_id: 'w',
          workflow: 'demo',
          version: '1.0.0',
          parent_execution_id: undefined,
          reason: 'Because',
          started_at: after(0),
          finished_at: after(59),
        },
      },
    ]);
  });

  it('is told with neither input nor output', () => {
    const { events, raised } = setUp();
    const secret = 'do not tell';
    events.executionEnded(
      anExecution()
        .with({ input: { secret } })
        .past({ state: 'a' }, secret)
        .status({ final_output: { secret }, message: secret })
        .ended('completed', 59)
        .build(),
    );
    expect(raised).toHaveLength(1);
    expect(JSON.stringify(raised)).not.toContain(secret);
  });

  it('is told once by a process however often it looks', () => {
    const { events, raised } = setUp();
    const execution = anExecution().ended('completed', 59).build();
    for (let i = 0; i < 3; i += 1) events.executionEnded(execution);
    expect(raised).toHaveLength(1);
  });

  it('is told under the same id by the next process', () => {
    const execution = anExecution().ended('completed', 59).build();
    const ids = [setUp(60), setUp(120)].map(({ events, raised }) => {
      events.executionEnded(execution);
      return raised[0]?.id;
    });
    expect(ids[0]).toBe(ids[1]);
  });

  it.each([
    [599, 1],
    [600, 0],
    [601, 0],
  ])('%i seconds ago is told %i times: the bus would not know it again', (age, times) => {
    const { events, raised } = setUp(age);
    events.executionEnded(anExecution().ended('completed', 0).build());
    expect(raised).toHaveLength(times);
  });

  it.each(['pending', 'running', 'waiting'] as const)('is not told of one that is %s', (phase) => {
    const { events, raised } = setUp();
    events.executionEnded(anExecution().status({ phase }).build());
    expect(raised).toEqual([]);
  });

  it('is told to nobody where the namespace is no tenant', () => {
    const { events, raised } = setUp();
    const execution = anExecution().ended('completed', 59).build();
    events.executionEnded({ ...execution, metadata: { ...execution.metadata, namespace: 'elsewhere' } });
    expect(raised).toEqual([]);
  });

  it('is told of more executions than are remembered, each once', () => {
    const { events, raised } = setUp();
    const execution = anExecution().ended('completed', 59).build();
    for (let i = 0; i < 5_000; i += 1) {
      events.executionEnded({ ...execution, metadata: { ...execution.metadata, uid: `uid-${i}` } });
    }
    expect(new Set(raised.map(({ id }) => id)).size).toBe(5_000);
    events.executionEnded({ ...execution, metadata: { ...execution.metadata, uid: 'uid-4999' } });
    expect(raised).toHaveLength(5_000);
  });
});

describe('the end of a volume', () => {
  const data = { volume_id: 'volume-uid', volume: 'data', namespace: 'default', claim: 'data' };

  it('ORCH-EVT-02 that expired is told as VolumeExpired', () => {
    const { events, raised } = setUp();
    events.volumeExpired(aVolume(), after(30));
    expect(raised).toMatchObject([
      {
        id: 'volume-uid-expired',
        topic: 'volume',
        type: 'VolumeExpired',
        subject: 'volume-uid',
        tenant: 'acme',
        time: after(30),
        data: { ...data, storage_class: 'ephemeral', expires_at: after(30), claim_kept: false },
      },
    ]);
  });

  it('ORCH-EVT-02 that expired while no controller ran is told when one looks', () => {
    const { events, raised } = setUp(7_200);
    events.volumeExpired(aVolume(), after(7_200));
    expect(raised).toMatchObject([{ type: 'VolumeExpired', time: after(7_200) }]);
  });

  it('ORCH-EVT-03 that was deleted is told as VolumeDeleted, with what becomes of its claim', () => {
    const { events, raised } = setUp();
    events.volumeDeleted(aVolume({ claim_name: 'theirs' }));
    expect(raised).toMatchObject([
      { id: 'volume-uid-deleted', topic: 'volume', type: 'VolumeDeleted', time: after(60), data: { claim_kept: true } },
    ]);
  });

  it('is told to nobody where the namespace is no tenant', () => {
    const { events, raised } = setUp();
    events.volumeDeleted(aVolume({}, 'elsewhere'));
    expect(raised).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { BusEvent } from '../../lib/bus/index.ts';
import { after, anExecution, begin } from '../../test/builders/execution-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createFactSink } from '../runtime/facts.ts';
import { endFact } from './end-fact.ts';

/** Seconds after `begin`. */
function setUp(now = 60) {
  const raised: BusEvent[] = [];
  const tenants = { tenantOf: (namespace: string) => (namespace === 'default' ? 'acme' : undefined) };
  const clock = createManualClock(begin + now * 1_000);
  const facts = createFactSink({ events: { raise: (event) => void raised.push(event) }, clock, tenants });
  const tell = (execution: WorkflowExecution): void => {
    const fact = endFact(execution);
    if (fact !== undefined) facts.raise(fact);
  };
  return { tell, raised };
}

describe('the end of an execution', () => {
  it.each([
    ['completed', 'WorkflowExecutionCompleted'],
    ['failed', 'WorkflowExecutionFailed'],
    ['cancelled', 'WorkflowExecutionCancelled'],
  ] as const)('%s is published as %s under the topic `workflow`', (phase, type) => {
    const { tell, raised } = setUp();
    const execution = anExecution().ended(phase, 59).status({ reason: 'Because' }).build();
    tell(execution);
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

  it('is published with neither input nor output', () => {
    const { tell, raised } = setUp();
    const secret = 'do not tell';
    tell(
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

  it('is published once by a process however often it looks', () => {
    const { tell, raised } = setUp();
    const execution = anExecution().ended('completed', 59).build();
    for (let i = 0; i < 3; i += 1) tell(execution);
    expect(raised).toHaveLength(1);
  });

  it('is published under the same id by the next process', () => {
    const execution = anExecution().ended('completed', 59).build();
    const ids = [setUp(60), setUp(120)].map(({ tell, raised }) => {
      tell(execution);
      return raised[0]?.id;
    });
    expect(ids[0]).toBe(ids[1]);
  });

  it.each([
    [599, 1],
    [600, 0],
    [601, 0],
  ])('%i seconds ago is published %i times: the bus would not know it again', (age, times) => {
    const { tell, raised } = setUp(age);
    tell(anExecution().ended('completed', 0).build());
    expect(raised).toHaveLength(times);
  });

  it.each(['pending', 'running', 'waiting'] as const)('is not published for one that is %s', (phase) => {
    const { tell, raised } = setUp();
    tell(anExecution().status({ phase }).build());
    expect(raised).toEqual([]);
  });

  it('is not published where the namespace is no tenant', () => {
    const { tell, raised } = setUp();
    const execution = anExecution().ended('completed', 59).build();
    tell({ ...execution, metadata: { ...execution.metadata, namespace: 'elsewhere' } });
    expect(raised).toEqual([]);
  });

  it('is published for more executions than are remembered, each once', () => {
    const { tell, raised } = setUp();
    const execution = anExecution().ended('completed', 59).build();
    for (let i = 0; i < 5_000; i += 1) {
      tell({ ...execution, metadata: { ...execution.metadata, uid: `uid-${i}` } });
    }
    expect(new Set(raised.map(({ id }) => id)).size).toBe(5_000);
    tell({ ...execution, metadata: { ...execution.metadata, uid: 'uid-4999' } });
    expect(raised).toHaveLength(5_000);
  });
});

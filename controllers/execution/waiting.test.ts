import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { InformerChange } from '../../lib/informer/index.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { connectWaiting, createWaiting } from './waiting.ts';

describe('executions that wait', () => {
  const waitingFor = (names: Readonly<Record<string, readonly string[]>>) => {
    const waiting = createWaiting();
    for (const [name, keys] of Object.entries(names)) for (const key of keys) waiting.add(key, name);
    return waiting;
  };

  it('for a workflow of their own namespace are left alone by one of the same name elsewhere', () => {
    const waiting = waitingFor({ build: ['a/1', 'b/1', 'a/2'] });
    expect(waiting.take(['build'], 'c')).toEqual([]);
    expect(waiting.take(['build'], 'a')).toEqual(['a/1', 'a/2']);
    expect(waiting.take(['build'], 'a')).toEqual([]);
    expect(waiting.take(['build'], 'b')).toEqual(['b/1']);
  });

  it('are all taken by what every namespace sees, whichever of its names they wait for', () => {
    const waiting = waitingFor({ build: ['a/1', 'b/1'], uid: ['c/1'], other: ['a/2'] });
    expect(waiting.take(['build', 'uid', 'former'])).toEqual(['a/1', 'b/1', 'c/1']);
    expect(waiting.take(['build', 'uid'])).toEqual([]);
    expect(waiting.take(['other'])).toEqual(['a/2']);
  });

  it('are forgotten when they are gone', () => {
    const waiting = waitingFor({ build: ['a/1', 'a/2'], volume: ['a/1'] });
    waiting.forget('a/1');
    waiting.forget('a/3');
    expect(waiting.take(['build', 'volume'])).toEqual(['a/2']);
  });

  it.each([
    { what: 'is deleted', after: undefined, waits: [] },
    { what: 'ends', after: anExecution('x').ended('failed', 1).build(), waits: [] },
    { what: 'changes', after: anExecution('x').build(), waits: ['default/x'] },
  ])('are $waits after one that waited $what', ({ after, waits }) => {
    const waiting = waitingFor({ build: ['default/x'] });
    const silent = { onChange: () => undefined };
    const tell: ((change: InformerChange<WorkflowExecution>) => void)[] = [];
    const executions = { onChange: (handler: (typeof tell)[number]) => void tell.push(handler) };
    connectWaiting({ workflows: silent, volumes: silent, executions }, waiting, () => undefined);
    for (const handler of tell) handler({ key: 'default/x', before: anExecution('x').build(), after, own: true });
    expect(waiting.take(['build'])).toEqual(waits);
  });
});

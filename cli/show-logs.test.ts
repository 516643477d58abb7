import { expect, it } from 'vitest';
import { after, anExecution, type ExecutionBuilder } from '../test/builders/execution-builder.ts';
import { type LogDeps, showLogs } from './show-logs.ts';

const work = { state: 'work', kind: 'ContainerRun', visit: 1, entered_at: after(1) } as const;

it.each<[execution: ExecutionBuilder, said: string]>([
  [anExecution().now(work), 'work has no pod yet'],
  [anExecution().status({ interrupted: work }).ended('cancelled', 3), 'work was cut short, and its pod is gone'],
])('a command without a log is not promised one that will never come: %#', async (builder, said) => {
  const notes: string[] = [];
  const deps = { logs: { live: async () => [] }, terminal: { note: (line: string) => notes.push(line) } };
  await showLogs(deps as unknown as LogDeps, builder.build(), [{ kind: 'pod', state: 'work', visit: 1 }]);
  expect(notes).toEqual([said]);
});

import { expect, it } from 'vitest';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { anExecution, begin } from '../test/builders/execution-builder.ts';
import { columnsAt } from './execution-columns.ts';
import { tableLines } from './table.ts';

const running = anExecution().now({ state: 'a', kind: 'System' }).build();
const ended = (phase: 'completed' | 'failed' | 'cancelled', reason?: string): WorkflowExecution => {
  const execution = anExecution().ended(phase, 1).build();
  const { status = { phase } } = execution;
  return { ...execution, status: { ...status, ...(reason !== undefined && { reason }) } };
};

it.each<[title: string, execution: WorkflowExecution, phase: string, succeeded: string]>([
  ['completed', ended('completed', 'Completed'), 'completed', 'True'],
  ['AMB-169 completed in a state that failed', ended('completed', 'LastStateFailed'), 'completed', 'False'],
  ['failed', ended('failed', 'StateTimeout'), 'failed', 'False'],
  ['was cancelled', ended('cancelled', 'Cancelled'), 'cancelled', 'False'],
  ['runs', running, 'running', 'Unknown'],
  ['has not been seen by a controller', anExecution().build(), 'pending', 'Unknown'],
])('a list shows whether an execution that %s succeeded', (_title, execution, phase, succeeded) => {
  const [headings, row] = tableLines(columnsAt(begin), [execution]).map((line) => line.split(/ {3,}/));
  const shown = Object.fromEntries((headings ?? []).map((heading, index) => [heading, row?.[index]]));
  expect(shown).toMatchObject({ PHASE: phase, SUCCEEDED: succeeded });
});

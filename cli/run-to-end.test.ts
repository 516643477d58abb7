import { expect, it } from 'vitest';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { finished } from '../lib/execution/finished.ts';
import { anExecution } from '../test/builders/execution-builder.ts';
import { createManualClock } from '../test/support/manual-clock.ts';
import { waitFor } from './run-to-end.ts';
import type { CommandContext } from './command-context.ts';

const inReview = (visit: number): WorkflowExecution =>
  anExecution().now({ state: 'review', kind: 'Human', visit }).build();

it('each visit that waits for a decision is reported once, also a second one of the same state', async () => {
  const notes: string[] = [];
  const ended = anExecution().ended('completed', 9).build();
  const context = {
    backend: async () => ({
      words: { flags: '' },
      executions: {
        async *follow() {
          yield* [inReview(1), inReview(1), inReview(2), ended];
        },
      },
    }),
    clock: createManualClock(),
    terminal: { note: (line: string) => void notes.push(line) },
    interrupted: new AbortController().signal,
  } as unknown as CommandContext;
  expect(await waitFor(context, inReview(1), { until: finished })).toBe(ended);
  const hint = "demo-1 waits in 'review': windlass signal demo-1 --response …";
  expect(notes).toEqual([hint, hint]);
});

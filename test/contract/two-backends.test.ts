import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { presentExecution } from '../../api/routes/executions/present.ts';
import { wholeExecutionOf } from '../../cli/backends/http/execution-object.ts';
import { progressLines } from '../../cli/progress.ts';
import { paint } from '../../cli/terminal.ts';
import { view } from '../../cli/view.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { logSources, placeText } from '../../lib/execution/log-source.ts';
import { after, anExecution, begin, type ExecutionBuilder } from '../builders/execution-builder.ts';

/** The execution as the command line has it from the API alone. */
function throughHttp(execution: WorkflowExecution): WorkflowExecution {
  const wire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  return wholeExecutionOf(wire(presentExecution(execution)));
}

/** Everything that the command line says of an execution. */
function said(execution: WorkflowExecution): unknown {
  const size = { columns: 200, flags: '' };
  return {
    view: view(execution, begin + 60_000, size).map((line) => paint(line, true)),
    progress: progressLines(undefined, execution, ''),
    logs: logs(execution),
    output: execution.status?.final_output,
  };
}

function logs(execution: WorkflowExecution): readonly string[] {
  try {
    return logSources(execution, {}).map((source) => `${source.kind} ${placeText(source)}`);
  } catch (error) {
    return [String(error)];
  }
}

const result = (exit_code: number) => ({ exit_code, stdout: 'out', stderr: '' });
const failed = { status: 'failed', reason: 'ExitCode', message: 'exit code 3' } as const;

const cases: Record<string, ExecutionBuilder> = {
  'that no controller has seen': anExecution(),
  'that has begun': anExecution().status({ transitions: 0 }),
  'in its first state': anExecution().now({ state: 'build', kind: 'ContainerRun', deadline: after(90) }),
  'that tries again': anExecution().now({
    state: 'build',
    kind: 'ContainerRun',
    attempt: 2,
    retry_at: after(70),
    failure: { reason: 'ExitCode', message: 'exit code 1' },
  }),
  'that asks a user': anExecution()
    .past({ state: 'build', target: 'review' }, { status: 'success', output: result(0) })
    .status({ transitions: 1 })
    .now({ state: 'review', kind: 'Human', prompt: 'Ship it?\nThink.' }),
  'that a user has answered': anExecution()
    .past({
      state: 'review',
      kind: 'Human',
      target: 'ship',
      signal: { id: 'review-1', by: 'kim', at: after(1), response: 'approved' },
    })
    .status({ transitions: 1 })
    .now({ state: 'ship', kind: 'System' }),
  'with parallel steps': anExecution()
    .past(
      { state: 'checks', kind: 'ParallelContainerRun', ...failed },
      { status: 'failed', output: { unit: result(0), lint: result(3) } },
    )
    .status({ transitions: 0, state: 'checks', reason: 'NoMatchingTransition', message: 'no rule of checks matches' })
    .ended('failed', 3),
  'that has visited a state twice': anExecution()
    .past({ state: 'build', ...failed, target: 'build', attempts: 3, output: { value: { output: result(3) } } })
    .past(
      { state: 'build', visit: 2, entered_at: after(1), finished_at: after(2) },
      { status: 'success', output: result(0) },
    )
    .status({
      transitions: 1,
      state: 'build',
      reason: 'Completed',
      message: 'ended in state build',
      final_output: { n: 1 },
    })
    .ended('completed', 2),
  'that was cancelled in the middle of a state': anExecution()
    .with({ cancel: { by: 'kim', at: after(5), reason: 'wrong branch' } })
    .past({ state: 'build', target: 'test' }, { status: 'success', output: result(0) })
    .status({ transitions: 1, state: 'test', reason: 'Cancelled', message: 'cancelled by kim: wrong branch' })
    .ended('cancelled', 6),
  'that was cancelled while a command ran': anExecution()
    .with({ cancel: { by: 'kim', at: after(5) } })
    .status({
      transitions: 0,
      state: 'build',
      reason: 'Cancelled',
      message: 'cancelled by kim',
      interrupted: { state: 'build', kind: 'ContainerRun', visit: 1, entered_at: after(1), attempt: 2 },
    })
    .ended('cancelled', 6),
  'that never began': anExecution()
    .status({
      phase: 'failed',
      started_at: undefined,
      workflow: undefined,
      reason: 'InvalidInput',
      message: 'input.name is missing',
    })
    .ended('failed', 1),
};

describe('an execution', () => {
  it.each(Object.entries(cases))('%s is shown alike through both backends', (_, builder) => {
    const execution = builder.build();
    expect(said(throughHttp(execution))).toEqual(said(execution));
  });

  it('is shown alike after any visits', () => {
    const visit = fc.record({
      state: fc.constantFrom('a', 'b'),
      kind: fc.constantFrom('ContainerRun', 'System', 'Human', 'Subworkflow'),
      code: fc.nat(3),
      attempts: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    } as const);
    fc.assert(
      fc.property(fc.array(visit, { maxLength: 8 }), fc.boolean(), (visits, isOver) => {
        const seen = new Map<string, number>();
        let builder = anExecution().status({ transitions: 0 });
        for (const [index, { state, kind, code, attempts }] of visits.entries()) {
          const number = (seen.get(state) ?? 0) + 1;
          seen.set(state, number);
          const isCommand = kind === 'ContainerRun' || kind === 'System';
          const isLast = isOver && index === visits.length - 1;
          builder = builder.past({
            state,
            kind,
            visit: number,
            ...(isCommand && attempts !== undefined ? { attempts } : {}),
            ...(isCommand ? { output: { value: { output: result(code) } } } : {}),
            ...(isLast ? {} : { target: 'next' }),
          });
        }
        const transitions = Math.max(0, visits.length - (isOver && visits.length > 0 ? 1 : 0));
        builder = builder.status({ transitions });
        const ended = isOver
          ? builder.status({ reason: 'Completed', message: 'ended' }).ended('completed', 9)
          : builder.now({ state: 'next', kind: 'ContainerRun' });
        const execution = ended.build();
        expect(said(throughHttp(execution))).toEqual(said(execution));
      }),
    );
  });
});

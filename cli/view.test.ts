import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { after, anExecution, begin } from '../test/builders/execution-builder.ts';
import { paint } from './terminal.ts';
import { textWidth } from './text-width.ts';
import { view } from './view.ts';

const wide = { columns: 120, flags: ' -n default' };
const text = (lines: ReturnType<typeof view>): string[] => lines.map((line) => paint(line, false).trimEnd());

describe('the view of an execution', () => {
  it('says so while no controller has seen it', () => {
    expect(text(view(anExecution().build(), begin + 2_000, wide))).toEqual([
      'demo-1  demo  pending  2.0s',
      '  waiting for the Windlass controller to pick it up',
    ]);
  });

  it('cuts no message for a file or another program, and to the width of a terminal', () => {
    const cause = `pulling: ${'x'.repeat(400)}: connect: no route to host`;
    const waiting = { reason: 'Pulling', message: cause, since: after(0) };
    const execution = anExecution().now({ state: 'a', kind: 'ContainerRun', waiting }).build();
    const linesAt = (columns: number) => text(view(execution, begin, { columns, flags: '' }));
    expect(linesAt(Number.POSITIVE_INFINITY).join('\n')).toContain(cause);
    expect(linesAt(80).every((line) => textWidth(line) <= 80)).toBe(true);
  });

  it('shows the whole of a prompt to another program', () => {
    const prompt = Array.from({ length: 9 }, (_, index) => `line ${index}`).join('\n');
    const execution = anExecution().now({ state: 'a', kind: 'Human', prompt }).build();
    const whole = text(view(execution, begin, { columns: Number.POSITIVE_INFINITY, flags: '' })).join('\n');
    expect(whole).toContain('line 8');
    expect(text(view(execution, begin, wide)).join('\n')).toContain('… 3 more lines');
  });

  it('WF-CR-19 shows each visit with its outcome, exit code and where it led', () => {
    const execution = anExecution()
      .past({ state: 'build', target: 'test' }, { status: 'success', output: { exit_code: 0 } })
      .past(
        { state: 'test', status: 'failed', reason: 'ExitCode', message: 'exit code 3', finished_at: after(3.25) },
        { status: 'failed', output: { exit_code: 3 } },
      )
      .now({ state: 'build', kind: 'ContainerRun', visit: 2, entered_at: after(4), deadline: after(304) })
      .build();
    expect(text(view(execution, begin + 5_000, wide))).toEqual([
      'demo-1  demo 1.0.0  running  5.0s',
      '  ✔ build  ContainerRun  1.0s  exit 0  → test',
      '  ✘ test   ContainerRun  3.2s  exit 3',
      '  ⠋ build  ContainerRun  1.0s  visit 2  4m59s left',
    ]);
  });

  it('AMB-169 says of an execution that completed in a state that failed that it failed, and why', () => {
    const ended = anExecution().ended('completed', 5).build();
    const { status = { phase: 'completed' } } = ended;
    const failed = { ...ended, status: { ...status, reason: 'LastStateFailed', message: 'terminal state a failed' } };
    expect(text(view(failed, begin, wide))).toEqual([
      'demo-1  demo 1.0.0  completed, its last state failed  5.0s',
      '  LastStateFailed: terminal state a failed',
    ]);
    expect(text(view(ended, begin, wide))).toEqual(['demo-1  demo 1.0.0  completed  5.0s']);
  });

  it('WF-PCR-04 shows the exit code of each parallel step, and steps that have ended while others run', () => {
    const step = (exit: number) => ({ exit_code: exit, stdout: '', stderr: '' });
    const done = anExecution()
      .past(
        { state: 'checks', kind: 'ParallelContainerRun', status: 'failed', reason: 'StepsFailed', message: '1 of 2' },
        { status: 'failed', output: { unit: step(0), lint: step(2) } },
      )
      .build();
    expect(text(view(done, begin, wide))[1]).toBe(
      '  ✘ checks  ParallelContainerRun  1.0s  unit 0, lint 2  StepsFailed: 1 of 2',
    );
    const result = { value: {} };
    const running = anExecution()
      .now({
        state: 'checks',
        kind: 'ParallelContainerRun',
        steps: { unit: { status: 'success', result }, lint: { status: 'failed', result } },
      })
      .build();
    expect(text(view(running, begin + 1_000, wide))[1]).toBe('  ⠋ checks  ParallelContainerRun  0.0s  ✔ unit  ✘ lint');
  });

  it('WF-HUMAN-01 shows what a person is asked and how to answer', () => {
    const execution = anExecution()
      .now({ state: 'review', kind: 'Human', prompt: 'Ship it?\nThink.', answers: ['approved', 'rejected', 'not yet'] })
      .build();
    expect(text(view(execution, begin + 3_000, wide))).toEqual([
      'demo-1  demo 1.0.0  waiting  3.0s',
      '  ⏸ review  Human  2.0s',
      '',
      '    Ship it?',
      '    Think.',
      '',
      '    windlass approve demo-1 -n default',
      '    windlass reject demo-1 -n default --reason …',
      "    windlass signal demo-1 -n default --response 'not yet'",
    ]);
  });

  it('WF-HUMAN-01 says where the whole of a long prompt is', () => {
    const prompt_ref = { path: '', ref: 'a'.repeat(64), bytes: 9_000, encoding: 'text' as const };
    const now = { state: 'review', kind: 'Human', prompt: 'Ship…', prompt_ref } as const;
    const lines = text(view(anExecution().now(now).build(), begin, wide));
    expect(lines).toContain('    the whole of it: windlass get demo-1 -n default --full -o yaml');
  });

  it('shows who decided', () => {
    const signal = { id: 'review-1', by: 'kim', at: after(1), response: 'approved' };
    const execution = anExecution().past({ state: 'review', kind: 'Human', signal }).build();
    expect(text(view(execution, begin, wide))[1]).toBe('  ✔ review  Human  1.0s  approved by kim');
  });

  it('shows the visit that a cancellation cut short, and how far it was', () => {
    const step = { status: 'success', result: { value: {} } } as const;
    const execution = anExecution()
      .past({ state: 'build', target: 'checks' }, { status: 'success', output: { exit_code: 0 } })
      .status({
        reason: 'Cancelled',
        message: 'cancelled by kim',
        interrupted: {
          state: 'checks',
          kind: 'ParallelContainerRun',
          visit: 1,
          entered_at: after(1),
          deadline: after(60),
          steps: { unit: step },
        },
      })
      .ended('cancelled', 6)
      .build();
    expect(text(view(execution, begin + 100_000, wide))).toEqual([
      'demo-1  demo 1.0.0  cancelled  6.0s',
      '  ✔ build   ContainerRun          1.0s  exit 0  → checks',
      '  ⊘ checks  ParallelContainerRun  5.0s  interrupted  ✔ unit',
      '  Cancelled: cancelled by kim',
    ]);
  });

  it.each(['failed', 'cancelled'] as const)('says why an execution is %s, and its clock stops', (phase) => {
    const execution = anExecution().status({ reason: 'StateTimeout', message: 'took long' }).ended(phase, 9).build();
    expect(text(view(execution, begin + 100_000, wide))).toEqual([
      `demo-1  demo 1.0.0  ${phase}  9.0s`,
      '  StateTimeout: took long',
    ]);
  });

  it('shows attempts, the pause before the next one, the child and warnings', () => {
    const retrying = anExecution()
      .status({ warnings: ['output count stays text'] })
      .now({ state: 'a', kind: 'ContainerRun', attempt: 2, retry_at: after(8) })
      .build();
    expect(text(view(retrying, begin + 5_000, wide)).slice(1)).toEqual([
      '  ⠋ a  ContainerRun  4.0s  attempt 2  next attempt in 3.0s',
      '  warning: output count stays text',
    ]);
    const parent = anExecution()
      .now({ state: 'sub', kind: 'Subworkflow', child: { name: 'demo-1-sub-x' } })
      .build();
    expect(text(view(parent, begin + 1_000, wide))[1]).toBe('  ⠋ sub  Subworkflow  0.0s  child demo-1-sub-x');
  });

  it('leaves out the oldest visits where the terminal is too low', () => {
    let builder = anExecution();
    for (let index = 1; index <= 30; index++) builder = builder.past({ state: 's', visit: index });
    const lines = text(view(builder.build(), begin, { ...wide, columns: 100, rows: 10 }));
    expect(lines).toHaveLength(8);
    expect(lines[1]).toBe('  … 24 earlier visits');
    expect(lines.at(-1)).toContain('visit 30');
  });

  it('no line is wider than the terminal, whatever an execution holds, and no text can move the cursor', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'grapheme' }),
        fc.nat(60),
        (message, prompt, columns) => {
          const execution = anExecution()
            .past({ state: 'build', status: 'failed', reason: 'ExitCode2', message })
            .now({ state: 'review', kind: 'Human', prompt })
            .status({ warnings: [message] })
            .build();
          for (const line of view(execution, begin, { ...wide, columns })) {
            const shown = paint(line, false);
            expect(textWidth(shown)).toBeLessThanOrEqual(columns);
            expect(shown).not.toMatch(/\p{Cc}/u);
          }
        },
      ),
    );
  });

  it('the same execution at the same time gives the same lines', () => {
    const execution = anExecution().now({ state: 'a', kind: 'System' }).build();
    expect(view(execution, begin + 1_234, wide)).toEqual(view(execution, begin + 1_234, wide));
  });
});

import { describe, expect, it } from 'vitest';
import { after, anExecution } from '../test/builders/execution-builder.ts';
import { progressLines } from './progress.ts';

const started = anExecution()
  .now({ state: 'build', kind: 'ContainerRun', entered_at: after(0) })
  .build();
const waiting = anExecution()
  .past({ state: 'build', target: 'review' }, { output: { exit_code: 0 } })
  .now({ state: 'review', kind: 'Human', prompt: 'Ship\nit?', answers: ['approved'] })
  .build();
const signal = { id: 'review-1', by: 'kim', at: after(8), response: 'approved' };
const completed = anExecution()
  .past({ state: 'build', target: 'review' }, { output: { exit_code: 0 } })
  .past({ state: 'review', kind: 'Human', signal, entered_at: after(1), finished_at: after(8) })
  .ended('completed', 9)
  .build();

describe('the lines that a watched execution appends', () => {
  it('tell each thing once, from the first state seen to the end', () => {
    expect(progressLines(undefined, started, ' -n default')).toEqual([
      '2026-01-02T03:04:05Z demo-1 started: workflow demo 1.0.0',
      '2026-01-02T03:04:05Z build (ContainerRun) started',
    ]);
    expect(progressLines(started, waiting, ' -n default')).toEqual([
      '2026-01-02T03:04:06Z build succeeded after 1.0s, exit 0',
      '2026-01-02T03:04:06Z review (Human) started',
      '2026-01-02T03:04:06Z review waits for windlass approve demo-1 -n default: Ship ⏎ it?',
    ]);
    expect(progressLines(waiting, completed, ' -n default')).toEqual([
      '2026-01-02T03:04:13Z review succeeded after 7.0s, approved by kim',
      '2026-01-02T03:04:14Z demo-1 completed after 9.0s, 1 transition',
    ]);
  });

  it('say nothing where nothing has changed', () => {
    for (const execution of [started, waiting, completed])
      expect(progressLines(execution, execution, ' -n default')).toEqual([]);
  });

  it('tell everything to a late reader', () => {
    const late = progressLines(undefined, completed, '');
    expect(late).toHaveLength(4);
    expect(late.at(-1)).toContain('completed');
  });

  it('tell a further attempt and a further visit', () => {
    const state = { state: 'build', kind: 'ContainerRun', entered_at: after(0) } as const;
    const second = anExecution()
      .now({ ...state, attempt: 2, retry_at: after(5) })
      .build();
    expect(progressLines(started, second, ' -n default')).toEqual(['2026-01-02T03:04:10Z build attempt 2']);
    const again = anExecution()
      .now({ ...state, visit: 2 })
      .build();
    expect(progressLines(started, again, ' -n default')).toEqual([
      '2026-01-02T03:04:05Z build (ContainerRun, visit 2) started',
    ]);
  });

  it('tell why an execution failed', () => {
    const failed = anExecution()
      .past({ state: 'build', status: 'failed', reason: 'ImagePullFailed', message: 'no such image' })
      .status({ reason: 'ImagePullFailed', message: 'no such image' })
      .ended('failed', 2)
      .build();
    expect(progressLines(started, failed, ' -n default')).toEqual([
      '2026-01-02T03:04:06Z build failed after 1.0s, ImagePullFailed: no such image',
      '2026-01-02T03:04:07Z demo-1 failed after 2.0s, 0 transitions, ImagePullFailed: no such image',
    ]);
  });

  it('tell which visit a cancellation cut short', () => {
    const build = { state: 'build', kind: 'ContainerRun', visit: 1, entered_at: after(1) } as const;
    const running = anExecution().now(build).build();
    const cancelled = anExecution()
      .status({ reason: 'Cancelled', message: 'cancelled by kim', interrupted: build })
      .ended('cancelled', 3)
      .build();
    expect(progressLines(running, cancelled, '')).toEqual([
      '2026-01-02T03:04:08Z build interrupted after 2.0s',
      '2026-01-02T03:04:08Z demo-1 cancelled after 3.0s, 0 transitions, Cancelled: cancelled by kim',
    ]);
    expect(progressLines(cancelled, cancelled, '')).toEqual([]);
  });

  it('are nothing before the controller has seen the execution', () => {
    expect(progressLines(undefined, anExecution().build(), '')).toEqual([]);
  });
});

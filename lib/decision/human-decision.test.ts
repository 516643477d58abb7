import { describe, expect, it } from 'vitest';
import { after, anExecution } from '../../test/builders/execution-builder.ts';
import { ExecutionError } from '../execution/execution-error.ts';
import { signalFor, waitingFor } from './human-decision.ts';

const decision = { response: 'approved', by: 'kim', at: after(9), via: 'api' } as const;
const waiting = anExecution().now({ state: 'review', kind: 'Human', visit: 2 });

function refusal(...args: Parameters<typeof signalFor>): ExecutionError {
  try {
    signalFor(...args);
  } catch (error) {
    if (error instanceof ExecutionError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a decision', () => {
  it('AMB-035 answers the state that waits, under an id that only one decision can have', () => {
    expect(signalFor(waiting.build(), { ...decision, feedback: 'fine' })).toEqual({
      id: 'review-2',
      state: 'review',
      visit: 2,
      response: 'approved',
      feedback: 'fine',
      by: 'kim',
      at: after(9),
      via: 'api',
    });
  });

  it('has no feedback where none was given', () => {
    expect(signalFor(waiting.build(), decision)).not.toHaveProperty('feedback');
  });

  it('is refused with the state that waits when it means another', () => {
    const error = refusal(waiting.build(), { ...decision, state: 'deploy' });
    expect(error).toMatchObject({ code: 'conflict' });
    expect(error.message).toBe("demo-1 waits in state 'review', not in 'deploy'");
  });

  it.each(['review-2', 'some-other-id'])('is refused with who was first, whose id is %s', (id) => {
    const first = { id, state: 'review', visit: 2, response: 'rejected', feedback: 'no', by: 'sam', at: after(8) };
    const error = refusal(waiting.with({ signals: [first] }).build(), decision);
    expect(error).toMatchObject({ code: 'conflict' });
    expect(error.message).toContain("sam has already decided 'review'");
    expect(error.message).toContain("rejected ('no')");
  });

  it('is refused when a signal that names no visit has answered this one', () => {
    const first = { id: 'by-hand', state: 'review', response: 'rejected', by: 'sam', at: after(8) };
    const error = refusal(waiting.with({ signals: [first] }).build(), decision);
    expect(error.message).toContain("sam has already decided 'review'");
  });

  it('is not stopped by a signal that an earlier visit left, nor by one that has taken its id for something else', () => {
    const left = { id: 'by-hand', state: 'review', response: 'rejected', by: 'sam', at: after(1) };
    const squatter = { id: 'review-2', state: 'other', response: 'x', by: 'sam', at: after(2) };
    const again = waiting.now({ state: 'review', kind: 'Human', visit: 2, signals_before: 2 });
    const signal = signalFor(again.with({ signals: [left, squatter] }).build(), decision);
    expect(signal).toMatchObject({ id: 'review-2.2', state: 'review', visit: 2, by: 'kim' });
  });

  it('is not stopped by the decision on an earlier visit', () => {
    const earlier = { id: 'review-1', state: 'review', visit: 1, response: 'rejected', by: 'sam', at: after(1) };
    expect(signalFor(waiting.with({ signals: [earlier] }).build(), decision).id).toBe('review-2');
  });

  it.each([
    ['is pending', anExecution().build(), 'it is pending'],
    ['works', anExecution().now({ state: 'build', kind: 'ContainerRun' }).build(), "it is running in state 'build'"],
    [
      'has ended',
      anExecution().status({ state: 'done' }).ended('completed', 1).build(),
      "it is completed in state 'done'",
    ],
  ])('is refused with phase and state when the execution %s', (_title, execution, want) => {
    expect(waitingFor(execution)).toBeUndefined();
    expect(refusal(execution, decision).message).toContain(want);
  });

  it('that comes too late names the decider', () => {
    const signal = { id: 'review-1', by: 'sam', at: after(1), response: 'approved' };
    const moved = anExecution().past({ state: 'review', kind: 'Human', signal }).now({ state: 'b', kind: 'System' });
    expect(refusal(moved.build(), decision).message).toContain("'review' was decided by sam: approved");
  });
});

import { describe, expect, it } from 'vitest';
import { endOf, progressLine } from './agent-progress.ts';

describe('the progress of an agent', () => {
  it.each([
    [
      { type: 'started', data: { agent: 'reviewer', version: '1.0.0', model: 'default' } },
      'agent reviewer 1.0.0 started on model default',
    ],
    [{ type: 'iteration_started', data: { iteration: 1, action: 'answer' } }, 'iteration 1: answer'],
    [{ type: 'iteration_started', data: { iteration_number: 2, action: 'refine' } }, 'iteration 2: refine'],
    [{ type: 'iteration_completed', data: { iteration_number: 2, output: 'done' } }, 'iteration 2 answered: done'],
    [{ type: 'tool_started', data: { tool: 'fs.read', arguments: { path: '/a' } } }, '  fs.read {"path":"/a"}'],
    [
      { type: 'tool_ended', data: { tool: 'fs.read', content: 'one\ntwo', is_error: false } },
      '  fs.read answered: one',
    ],
    [{ type: 'tool_ended', data: { tool: 'fs.read', content: 'no', is_error: true } }, '  fs.read failed: no'],
    [{ type: 'call_judged', data: { allowed: false, reason: 'unsafe' } }, '  call refused by the judge: unsafe'],
    [{ type: 'call_judged', data: { allowed: true, reason: 'fine' } }, undefined],
    [
      { type: 'approval_asked', data: { tool: 'cmd.run', until: '2026-01-02T03:04:05Z' } },
      '  cmd.run waits for approval until 2026-01-02T03:04:05Z',
    ],
    [{ type: 'approval_given', data: { approved: true, by: 'ada' } }, '  call approved by ada'],
    [
      { type: 'approval_given', data: { approved: false, by: 'ada', feedback: 'too broad' } },
      '  call rejected by ada: too broad',
    ],
    [{ type: 'approval_given', data: { approved: false } }, '  call not approved in time'],
    [{ type: 'iteration_judged', data: { score: 0.4, feedback: 'shorter' } }, '  judged 0.4: shorter'],
    [{ type: 'iteration_completed', data: { iteration: 1, output: 'done' } }, 'iteration 1 answered: done'],
    [{ type: 'model_asked', data: { call: 1 } }, undefined],
    [{ type: 'toString', data: {} }, undefined],
  ])('tells %j', (event, line) => {
    expect(progressLine(event)).toBe(line);
  });

  it('tells the first 200 characters of a line', () => {
    const lineOf = (length: number) =>
      progressLine({ type: 'iteration_started', data: { iteration_number: 1, action: 'x'.repeat(length) } });
    expect([199, 200, 201].map((length) => lineOf(length)?.length)).toEqual([212, 213, 214]);
    expect(lineOf(201)).toMatch(/…$/);
  });
});

describe('the end of an agent', () => {
  it.each([
    [
      { type: 'ended', data: { at: '', result: { phase: 'completed', output: 'fine' } } },
      { phase: 'completed', output: 'fine' },
    ],
    [
      { type: 'ended', data: { at: '', result: { phase: 'failed', message: 'late' } } },
      { phase: 'failed', message: 'late' },
    ],
    [
      { type: 'execution_completed', data: { final_output: 'fine' } },
      { phase: 'completed', output: 'fine' },
    ],
    [
      { type: 'execution_failed', data: { error: 'Timeout: late' } },
      { phase: 'failed', message: 'Timeout: late' },
    ],
    [{ type: 'execution_cancelled', data: { by: 'ada' } }, { phase: 'cancelled' }],
    [{ type: 'execution_deleted', data: {} }, { phase: 'deleted' }],
    [{ type: 'iteration_completed', data: { iteration: 1, output: 'x' } }, undefined],
  ])('is %j', (event, end) => {
    expect(endOf(event)).toEqual(end);
  });
});

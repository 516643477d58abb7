import { describe, expect, it } from 'vitest';
import { endOf, progressLine } from './agent-progress.ts';

describe('the progress of an agent', () => {
  it.each([
    [
      { started: { agent: 'reviewer', version: '1.0.0', model: 'default' } },
      'agent reviewer 1.0.0 started on model default',
    ],
    [{ iteration_started: { iteration: 1, action: 'answer' } }, 'iteration 1: answer'],
    [{ tool_started: { tool: 'fs.read', arguments: { path: '/a' } } }, '  fs.read {"path":"/a"}'],
    [{ tool_ended: { tool: 'fs.read', content: 'one\ntwo', is_error: false } }, '  fs.read answered: one'],
    [{ tool_ended: { tool: 'fs.read', content: 'no', is_error: true } }, '  fs.read failed: no'],
    [{ call_judged: { allowed: false, reason: 'unsafe' } }, '  call refused by the judge: unsafe'],
    [{ call_judged: { allowed: true, reason: 'fine' } }, undefined],
    [
      { approval_asked: { tool: 'cmd.run', until: '2026-01-02T03:04:05Z' } },
      '  cmd.run waits for approval until 2026-01-02T03:04:05Z',
    ],
    [{ approval_given: { approved: true, by: 'ada' } }, '  call approved by ada'],
    [{ approval_given: { approved: false, by: 'ada', feedback: 'too broad' } }, '  call rejected by ada: too broad'],
    [{ approval_given: { approved: false } }, '  call not approved in time'],
    [{ iteration_judged: { score: 0.4, feedback: 'shorter' } }, '  judged 0.4: shorter'],
    [{ iteration_completed: { iteration: 1, output: 'done' } }, 'iteration 1 answered: done'],
    [{ model_asked: { call: 1 } }, undefined],
    [{ toString: {} }, undefined],
  ])('tells %j', (event, line) => {
    expect(progressLine(event)).toBe(line);
  });

  it('tells the first 200 characters of a line', () => {
    const lineOf = (length: number) =>
      progressLine({ iteration_started: { iteration: 1, action: 'x'.repeat(length) } });
    expect([199, 200, 201].map((length) => lineOf(length)?.length)).toEqual([212, 213, 214]);
    expect(lineOf(201)).toMatch(/…$/);
  });
});

describe('the end of an agent', () => {
  it.each([
    [{ ended: { at: '', result: { phase: 'completed', output: 'fine' } } }, { phase: 'completed', output: 'fine' }],
    [{ ended: { at: '', result: { phase: 'failed', message: 'late' } } }, { phase: 'failed', message: 'late' }],
    [{ closed: { phase: 'cancelled' } }, { phase: 'cancelled' }],
    [{ iteration_completed: { iteration: 1, output: 'x' } }, undefined],
  ])('is %j', (event, end) => {
    expect(endOf(event)).toEqual(end);
  });
});

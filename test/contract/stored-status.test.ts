import { describe, expect, it } from 'vitest';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { unstorable } from '../builders/stored-status.ts';
import { World } from '../builders/world.ts';

const asStatus = (fields: object): WorkflowExecutionStatus =>
  ({ phase: 'running', ...fields }) as WorkflowExecutionStatus;

describe('a status that the world of the engine tests takes', () => {
  it('is one that the CustomResourceDefinition stores as it is', () => {
    const at = '2026-01-01T00:00:00Z';
    const current = { state: 'a', kind: 'Human', visit: 1, entered_at: at };
    expect(unstorable(asStatus({ current, blackboard: { any: { value: { key: [null, 1] } } } }))).toEqual([]);
  });

  it.each([
    ['a phase that there is not', { phase: 'tired' }],
    ['a field that would be dropped', { mood: 'good' }],
    ['a field inside another that would be dropped', { current: { state: 'a', visit: 1, mood: 'good' } }],
    ['a number where text belongs', { state: 7 }],
    ['a time that is none', { started_at: 'yesterday' }],
  ])('is never one with %s', (_what, fields) => {
    expect(unstorable(asStatus(fields))).not.toEqual([]);
  });

  it('is refused by the world with the place of the mistake', () => {
    const world = new World(aWorkflow('x').state('a', aScript('true')).build());
    const decision = world.decision();
    const status = { ...decision.status, mood: 'good' } as WorkflowExecutionStatus;
    expect(() => world.accept({ ...decision, status })).toThrow('mood');
  });
});

import { describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import type { Visit, WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import { aScript, aWorkflow, anEnd } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import { decide } from './decide.ts';
import { type StatusChange, copyStatus, type CurrentVisit, patched, reduce, unchanged } from './reduce.ts';

const at = '2026-01-01T00:00:00.000Z';
const visit: CurrentVisit = { state: 's', kind: 'ContainerRun', visit: 1, entered_at: at };
const ended: Visit = { state: 's', kind: 'ContainerRun', visit: 1, status: 'success', entered_at: at, finished_at: at };

/** The status after some changes to one that nothing may change in place. */
function after(
  before: WorkflowExecutionStatus | undefined,
  ...changes: readonly StatusChange[]
): WorkflowExecutionStatus {
  const status = copyStatus(deepFreeze(before));
  for (const change of changes) reduce(status, deepFreeze(change));
  return status;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

describe('a change of a status', () => {
  it('begins with a pending one where there is none', () => {
    expect(after(undefined)).toEqual({ phase: 'pending' });
  });

  it('status: sets fields, and removes those that are undefined', () => {
    const status = after(
      { phase: 'pending', reason: 'Pending', feedback: { value: 'x' } },
      { kind: 'status', fields: { phase: 'running', feedback: undefined, human_feedback: undefined } },
    );
    expect(Object.entries(status)).toEqual([
      ['phase', 'running'],
      ['reason', 'Pending'],
    ]);
  });

  it('entered: counts the visit, and the state is the current one', () => {
    const entered = { kind: 'entered', visit } as const;
    expect(after({ phase: 'running', visits: { t: 3 } }, entered)).toEqual({
      phase: 'running',
      visits: { t: 3, s: 1 },
      state: 's',
      current: visit,
    });
  });

  it('visit: patches the current visit, and nothing where there is none', () => {
    const change = { kind: 'visit', fields: { attempt: 2, waiting: undefined } } as const;
    const waiting = { reason: 'Unschedulable', message: 'no room', since: at };
    expect(after({ phase: 'running', current: { ...visit, waiting } }, change).current).toStrictEqual({
      ...visit,
      attempt: 2,
    });
    expect(after({ phase: 'completed' }, change)).toEqual({ phase: 'completed' });
  });

  it('left, routed: the visit moves to the history, then has its rule', () => {
    const earlier: Visit = { ...ended, state: 'r' };
    const left = { kind: 'left', visit: ended } as const;
    const routed = { kind: 'routed', rule: 1, target: 't' } as const;
    expect(after({ phase: 'running', current: visit, history: [earlier] }, left, routed)).toEqual({
      phase: 'running',
      history: [earlier, { ...ended, rule: 1, target: 't' }],
    });
  });

  it('superseded: an earlier visit keeps its output', () => {
    const superseded = { kind: 'superseded', index: 0, output: { value: 1 } } as const;
    expect(after({ phase: 'running', history: [ended, ended] }, superseded).history).toEqual([
      { ...ended, output: { value: 1 } },
      ended,
    ]);
  });

  it.each([
    ['in a state', visit],
    ['between states', undefined],
  ])('finished %s: says how, and what was interrupted', (_name, current) => {
    const end = { kind: 'finished', phase: 'failed', at, reason: 'Refused', message: 'why' } as const;
    expect(after({ phase: 'running', ...(current && { current }) }, end)).toEqual({
      phase: 'failed',
      finished_at: at,
      reason: 'Refused',
      message: 'why',
      ...(current && { interrupted: current }),
    });
  });

  it.each([limits.warnings - 1, limits.warnings, limits.warnings + 1])('warned: keeps the newest of %i', (count) => {
    const lines = Array.from({ length: count }, (_, index) => `warning ${index}`);
    const { warnings } = after({ phase: 'running' }, { kind: 'warned', lines }, { kind: 'warned', lines: ['last'] });
    expect(warnings).toEqual([...lines, 'last'].slice(-limits.warnings));
  });

  it('warned: has each once, cut to its limit, and none where none was given', () => {
    const long = 'x'.repeat(limits.warningLength + 1);
    const { warnings } = after({ phase: 'running', warnings: ['a'] }, { kind: 'warned', lines: ['b', 'a', long] });
    expect(warnings?.slice(0, 2)).toEqual(['a', 'b']);
    expect(warnings?.[2]).toHaveLength(limits.warningLength);
    expect(after({ phase: 'running' }, { kind: 'warned', lines: [] })).toEqual({ phase: 'running' });
  });

  it('leaves the visit that was patched as it was', () => {
    const frozen = deepFreeze({ ...visit });
    expect(patched(frozen, unchanged)).toBe(frozen);
    expect(patched(frozen, { attempt: 2 })).toEqual({ ...visit, attempt: 2 });
  });
});

describe('a decision', () => {
  it('WF-RUN-06 changes nothing in place: its facts may be frozen to the bottom', () => {
    const steps = [{ name: 'one', image: 'i', command: ['x'] }];
    const world = new World(
      aWorkflow('w')
        .state('a', aScript('x', { transitions: [{ target: 'ask' }] }))
        .state('ask', { kind: 'Human', prompt: 'go on?', transitions: [{ target: 'all' }] })
        .state('all', { kind: 'ParallelContainerRun', steps, transitions: [{ target: 'end' }] })
        .state('end', anEnd())
        .build(),
    );
    const happens = [() => world.end('a', {}), () => world.signal('ask', 'yes'), () => world.end('all/one', {})];
    for (let round = 0; round < 12 && world.status.phase !== 'completed'; round += 1) {
      decide(deepFreeze(structuredClone(world.facts())), world.now);
      world.settle();
      happens.shift()?.();
    }
    expect(world.status.phase).toBe('completed');
  });
});

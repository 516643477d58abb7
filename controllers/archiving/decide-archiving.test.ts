import { describe, expect, it } from 'vitest';
import { afterEnd, recordedOf } from './decide-archiving.ts';

const end = Date.parse('2026-01-02T00:00:00Z');
const execution = { apiVersion: 'windlass.dev/v1', kind: 'AgentExecution', metadata: { name: 'run' } };
const status = { finished_at: new Date(end).toISOString() };
const due = end + 60_000;
const graceMs = 30_000;

describe('AMB-174 the record of an execution that has ended', () => {
  it('is noted in the status once, with the time of its writing', () => {
    const archived = { kind: 'archived', at: end + 5_000 } as const;
    const stay = { now: end + 6_000, due, graceMs };
    const { archivedAt } = afterEnd(recordedOf(execution, status, archived), stay);
    expect(archivedAt).toBe('2026-01-02T00:00:05.000Z');
    const noted = recordedOf(execution, { ...status, archived_at: archivedAt }, archived);
    expect(afterEnd(noted, stay).archivedAt).toBeUndefined();
  });

  it('is missed in an Event with the reason and the grace', () => {
    const away = recordedOf(execution, status, { kind: 'pending', problem: 'the bus is away' });
    expect(afterEnd(away, { now: due + graceMs, due, graceMs }).removal).toEqual({
      kind: 'delete',
      unarchived: {
        why: 'the bus is away',
        reason: 'ExecutionNotArchived',
        message: 'deleted 30 s after its time without a record: the bus is away',
      },
    });
  });

  it('wakes at the first of its times: the next try, and the moment from which the execution is held', () => {
    const resting = recordedOf(execution, status, { kind: 'pending', retryAt: end + 500 });
    expect(afterEnd(resting, { now: end, due, graceMs })).toMatchObject({ actions: [], wakeAt: end + 500 });
    expect(afterEnd({ ...resting, isHeld: true }, { now: end, due: undefined, graceMs })).toMatchObject({
      wakeAt: end + 500,
      removal: { kind: 'none' },
    });
  });
});

import { describe, expect, it } from 'vitest';
import { createManualClock } from '../manual-clock.ts';
import { absentBus } from './absent-bus.ts';
import { createAuditTrail } from './audit.ts';
import type { BusEvent } from './event-bus.ts';

describe('the audit trail', () => {
  it('raises an event of topic `audit` that names the actor, whatever the entry says of him', () => {
    const raised: BusEvent[] = [];
    const deps = { events: { raise: (event: BusEvent) => void raised.push(event) }, newId: () => '1f' };
    const trail = createAuditTrail({ ...deps, clock: createManualClock() }, 'api');
    const entry = { type: 'ExecutionCancelled', by: { subject: 'kim', tenant: 'acme' }, subject: 'uid' } as const;
    trail.record({ ...entry, data: { workflow: 'build', actor: 'somebody else' } });
    expect(raised).toEqual([
      {
        id: 'api-1f',
        topic: 'audit',
        source: 'api',
        type: 'ExecutionCancelled',
        subject: 'uid',
        tenant: 'acme',
        time: '2026-01-01T00:00:00.000Z',
        data: { workflow: 'build', actor: 'kim' },
      },
    ]);
  });

  it('tells an act that is done once under one id, however often it is told', () => {
    const ids: string[] = [];
    const deps = { events: { raise: ({ id }: BusEvent) => void ids.push(id) }, newId: () => '1f' };
    const trail = createAuditTrail({ ...deps, clock: createManualClock() }, 'api');
    const entry = { type: 'ExecutionStarted', by: { subject: 'kim', tenant: 'acme' }, once: true } as const;
    for (const subject of ['u1', 'u1', 'u2']) trail.record({ ...entry, subject });
    expect(ids).toEqual(['api-ExecutionStarted-u1', 'api-ExecutionStarted-u1', 'api-ExecutionStarted-u2']);
  });
});

describe('a bus that is not configured', () => {
  const event = { id: '1', topic: 'a', source: 'b', type: 'C', subject: 'd', tenant: 'e', time: 'f', data: {} };
  const bucket = absentBus.bucket({ name: 'a', ttlMs: 1 });
  it.each<[string, () => Promise<unknown>]>([
    ['publish', () => absentBus.publish(event)],
    ['get', () => bucket.get('a')],
    ['create', () => bucket.create('a', 1)],
    ['update', () => bucket.update('a', 1, 1)],
    ['delete', () => bucket.delete('a', 1)],
  ])('answers %s with `unavailable` and the variable to set', async (_what, call) => {
    await expect(call()).rejects.toMatchObject({ code: 'unavailable', reason: 'EventBusNotConfigured' });
    await expect(call()).rejects.toThrow('WINDLASS_NATS_URL');
  });

  it('takes what is raised and says why it works no further', () => {
    expect(() => absentBus.raise(event)).not.toThrow();
    expect(absentBus.problem()).toBe('no event bus is configured');
  });
});

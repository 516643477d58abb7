import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createAbsentBus } from './absent-bus.ts';
import { type AuditEntry, createAuditTrail } from './audit.ts';
import type { BusEvent } from './event-bus.ts';

describe('the audit trail', () => {
  it('raises an event of topic `audit` that names the actor, whatever the entry says of him', () => {
    const raised: BusEvent[] = [];
    const deps = { events: { raise: (event: BusEvent) => void raised.push(event) }, newId: () => '1f' };
    const trail = createAuditTrail({ ...deps, clock: createManualClock() }, 'api');
    const entry = { type: 'ExecutionCancelled', by: { subject: 'kim', tenant: 'acme' }, subject: 'uid' } as const;
    trail.record({ ...entry, data: { workflow: 'build', actor: 'another one' } });
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

  const storedOf = (entries: readonly Pick<AuditEntry, 'act' | 'doneAt'>[]): string[] => {
    const ids: string[] = [];
    const deps = { events: { raise: ({ id }: BusEvent) => void ids.push(id) }, newId: () => '1f' };
    const trail = createAuditTrail({ ...deps, clock: createManualClock() }, 'api');
    const entry = { type: 'ExecutionSignalled', by: { subject: 'kim', tenant: 'acme' }, subject: 'u' } as const;
    for (const more of entries) trail.record({ ...entry, ...more });
    return ids;
  };

  it('records an act that has a name under one id, however often it is recorded', () => {
    const ids = storedOf([{ act: 'ask-1' }, { act: 'ask-1' }, { act: 'ask-2' }]);
    expect(ids).toEqual([
      'api-ExecutionSignalled-u-ask-1',
      'api-ExecutionSignalled-u-ask-1',
      'api-ExecutionSignalled-u-ask-2',
    ]);
  });

  it.each([
    ['2025-12-31T23:59:59Z', 1],
    ['2025-12-31T23:55:00Z', 1],
    ['2025-12-31T23:54:59Z', 0],
    [undefined, 1],
  ])('tells a repetition only while the stream knows its id: done at %s, recorded %i times', (doneAt, count) => {
    expect(storedOf([{ act: 'ask-1', doneAt }])).toHaveLength(count);
  });
});

describe('a bus that is not configured', () => {
  const event = { id: '1', topic: 'a', source: 'b', type: 'C', subject: 'd', tenant: 'e', time: 'f', data: {} };
  const absentBus = createAbsentBus(createManualClock());

  it('answers publish with `unavailable` and the variable to set', async () => {
    const refusal = { code: 'unavailable', reason: 'EventBusNotConfigured' };
    await expect(absentBus.publish(event)).rejects.toMatchObject(refusal);
    await expect(absentBus.publish(event)).rejects.toThrow('WINDLASS_NATS_URL');
  });

  it('AMB-182 has buckets in the memory of its process, each of them once', async () => {
    const definition = { name: 'a', ttlMs: 1_000 };
    expect(await absentBus.bucket(definition).create('k', 1, 'acme')).toBeDefined();
    expect(await absentBus.bucket(definition).create('k', 2, 'acme')).toBeUndefined();
    expect(await absentBus.bucket({ ...definition, name: 'b' }).create('k', 2, 'acme')).toBeDefined();
  });

  it('takes what is raised and says why it works no further', () => {
    expect(() => absentBus.raise(event)).not.toThrow();
    expect(absentBus.problem()).toBe('no event bus is configured');
  });
});

import { describe, expect, it } from 'vitest';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { approvalId, approvalIdOf } from './approval-id.ts';

const execution = '00000000-0000-4000-8000-000000000001';

describe('the id of what people are asked', () => {
  it('HUMAN-API-01 is a UUID of version 5 that never changes, since others keep it', () => {
    const id = approvalId(execution, { state: 'review', visit: 1 });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id).toBe('a2347e99-661b-52ff-bc3f-79fd67e3f461');
  });

  it('is another one for another execution, state or visit', () => {
    const ids = [
      approvalId(execution, { state: 'review', visit: 1 }),
      approvalId(execution, { state: 'review', visit: 2 }),
      approvalId(execution, { state: 'review-2', visit: 1 }),
      approvalId(execution.replace('1', '2'), { state: 'review', visit: 1 }),
    ];
    expect(new Set(ids).size).toBe(4);
  });

  it('is there while the execution waits in a Human state, and no longer', () => {
    const waiting = anExecution().now({ state: 'review', kind: 'Human', visit: 2 });
    expect(approvalIdOf(waiting.build())).toBe(approvalId(execution, { state: 'review', visit: 2 }));
    expect(approvalIdOf(anExecution().build())).toBeUndefined();
    expect(approvalIdOf(anExecution().now({ state: 'a', kind: 'System' }).build())).toBeUndefined();
    expect(approvalIdOf(waiting.ended('cancelled', 3).build())).toBeUndefined();
  });
});

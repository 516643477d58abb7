import { expect, it } from 'vitest';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { createBlocked } from './blocked.ts';

const failure = { reason: 'QuotaExceeded', message: 'exceeded quota' } as const;

function blockedOf(count: number) {
  const blocked = createBlocked();
  const { metadata, ...rest } = anExecution('x').build();
  const execution = (uid: string, namespace: string) => ({ ...rest, metadata: { ...metadata, uid, namespace } });
  for (let i = 0; i < count; i++) blocked.add(execution(`uid-${i}`, 'busy'), failure);
  return { blocked, execution };
}

it.each([
  { count: 1, want: 10_000 },
  { count: 10, want: 10_000 },
  { count: 11, want: 11_000 },
  { count: 4_000, want: 4_000_000 },
])('$count blocked executions of a namespace are tried again after $want ms', ({ count, want }) => {
  const { blocked, execution } = blockedOf(count);
  blocked.add(execution('uid-0', 'busy'), failure);
  expect(blocked.retryMs('busy')).toBe(want);
  expect(blocked.retryMs('quiet')).toBe(10_000);
});

it('one that is forgotten counts no more, and nothing of it is kept', () => {
  const { blocked } = blockedOf(11);
  expect(blocked.why('uid-10')).toBe(failure);
  blocked.forget('uid-10');
  blocked.forget('uid-10');
  expect(blocked.why('uid-10')).toBeUndefined();
  expect(blocked.retryMs('busy')).toBe(10_000);
});

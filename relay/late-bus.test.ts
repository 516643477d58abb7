import { expect, it } from 'vitest';
import { AppError } from '../lib/errors.ts';
import { patiently } from './late-bus.ts';

const late = new AppError('unavailable', 'the event bus did not answer in time');

it.each([
  [4, undefined, late, 'answer'],
  [5, undefined, late, late],
  [1, 'the connection is away', late, late],
  [1, undefined, new AppError('conflict', 'another writer'), 'conflict'],
])(
  'after %i failures of a bus whose problem is %s there is one more attempt or none',
  async (failures, problem, error, want) => {
    let asked = 0;
    const outcome = await patiently({ problem: () => problem }, async () => {
      asked += 1;
      if (asked <= failures) throw error;
      return 'answer';
    }).catch((thrown: AppError) => (thrown === late ? late : thrown.code));
    expect(outcome).toBe(want);
  },
);

import { describe, expect, it } from 'vitest';
import { approvalIdOf } from '../../../lib/decision/approval-id.ts';
import { AppError } from '../../../lib/errors.ts';
import { after, anExecution, begin } from '../../../test/builders/execution-builder.ts';
import { type Pending, pendingOf } from './pending.ts';
import { presentRequest } from './present.ts';

const at = (seconds: number): number => begin + seconds * 1_000;
const asking = anExecution().now({ state: 'ask', kind: 'Human', prompt: 'Go?', deadline: after(61) });
const signal = { id: 'ask-1', state: 'ask', visit: 1, response: 'approved', by: 'kim', at: after(2) };

describe('what an execution asks', () => {
  it('HUMAN-API-01 is known by the id of its visit', () => {
    expect(pendingOf(asking.build(), at(2))?.id).toBe(approvalIdOf(asking.build()));
  });

  it.each([
    [at(61) - 1, true],
    [at(61), false],
    [at(61) + 1, false],
  ])(
    'HUMAN-API-09 HUMAN-API-17 at %i, around its deadline, is there: %s, though no controller has moved',
    (now, isThere) => {
      expect(pendingOf(asking.build(), now) !== undefined).toBe(isThere);
    },
  );

  it.each([
    ['does not wait', anExecution().now({ state: 'a', kind: 'System' }).build()],
    ['has not begun', anExecution().build()],
    ['has ended', anExecution().now({ state: 'ask', kind: 'Human' }).ended('completed', 2).build()],
  ])('HUMAN-API-17 is nothing where it %s', (_title, execution) => {
    expect(pendingOf(execution, at(2))).toBeUndefined();
  });

  it.each([
    ['it is decided', anExecution().with({ signals: [signal] })],
    ['it is cancelled', anExecution().with({ cancel: { by: 'kim', at: after(2) } })],
  ])('HUMAN-API-16 is nothing once %s, though no controller has moved', (_title, execution) => {
    expect(pendingOf(execution.now({ state: 'ask', kind: 'Human' }).build(), at(2))).toBeUndefined();
  });

  it('HUMAN-API-17 is nothing once it is being deleted', () => {
    const execution = asking.build();
    const metadata = { ...execution.metadata, deletionTimestamp: after(2) };
    expect(pendingOf({ ...execution, metadata }, at(2))).toBeUndefined();
  });
});

describe('a request as it is shown', () => {
  const ref = { path: '', ref: 'a'.repeat(64), bytes: 9_000, encoding: 'text' as const };
  const pending = pendingOf(asking.build(), at(2)) as Pending;
  const long = { ...pending, current: { ...pending.current, prompt: 'the beginning…', prompt_ref: ref } };
  const reading = (answer: () => Promise<Uint8Array>) => () => answer;

  it('HUMAN-API-02 HUMAN-API-03 HUMAN-API-04 HUMAN-API-05 says who waits, for what, since when and for how long', async () => {
    const none = reading(() => Promise.reject(new Error('nothing to read')));
    expect(await presentRequest(none, pending)).toEqual({
      id: pending.id,
      execution_id: '00000000-0000-4000-8000-000000000001',
      prompt: 'Go?',
      created_at: after(1),
      timeout_seconds: 60,
    });
  });

  it('HUMAN-API-03 has the whole of a prompt that is in the output store', async () => {
    const whole = reading(async () => Buffer.from('the whole prompt'));
    expect((await presentRequest(whole, long)).prompt).toBe('the whole prompt');
  });

  it('HUMAN-API-03 has the beginning where the rest is lost, and fails where the store is away', async () => {
    const lost = reading(() => Promise.reject(new AppError('not_found', 'deleted')));
    expect((await presentRequest(lost, long)).prompt).toBe('the beginning…');
    const away = reading(() => Promise.reject(new AppError('unavailable', 'no answer')));
    await expect(presentRequest(away, long)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

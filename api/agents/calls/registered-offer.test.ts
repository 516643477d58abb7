import { expect, it } from 'vitest';
import { AppError } from '../../../lib/errors.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import type { ConversationDeps } from '../conversation/conversation-deps.ts';
import { registeredTools } from './registered-offer.ts';

const slow = new AppError('timeout', 'no answer within 5000 ms', { reason: 'RequestTimeout' });
const away = new AppError('unavailable', 'no process serves it now', { reason: 'NoResponders' });

/** The outcome of a list at a gateway that fails so until it is well, after seconds; undefined while a conversation waits. */
async function outcomeOf(cause: AppError, wellAfterSeconds: number, seconds: number): Promise<unknown> {
  const clock = createManualClock();
  const from = clock.steadyMs();
  const offered = async () => {
    if (clock.steadyMs() >= from + wellAfterSeconds * 1_000) return [];
    throw new AppError('unavailable', 'the tool gateway', { reason: 'GatewayUnavailable', cause });
  };
  const giveUp = new AbortController().signal;
  const deps = { clock, logger: silentLogger, registered: { offered }, giveUp } as unknown as ConversationDeps;
  let outcome: unknown;
  void registeredTools(deps, new AbortController().signal).then(
    (tools) => (outcome = tools),
    (error: unknown) => (outcome = error),
  );
  for (let passed = 0; passed < seconds; passed += 1) await clock.advance(1_000);
  return outcome;
}

it('a gateway that is slow is waited for as a model is', async () => {
  expect(await outcomeOf(slow, 600, 590)).toBeUndefined();
  expect(await outcomeOf(slow, 600, 610)).toEqual([]);
});

it('a gateway that is away is waited for a minute', async () => {
  expect(await outcomeOf(away, 50, 59)).toEqual([]);
  expect(await outcomeOf(away, 600, 59)).toBeUndefined();
  expect(await outcomeOf(away, 600, 63)).toMatchObject({ reason: 'GatewayUnavailable' });
});

import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { deviceLogin } from './device-login.ts';
import type { DeviceCode, Tokens } from './provider.ts';

const tokens: Tokens = { accessToken: 'token' };
type Answer = Awaited<ReturnType<DeviceCode['poll']>>;

/** Polls against a script; what is asked beyond it is pending. */
function logIn(answers: readonly Answer[], { expiresInMs = 600_000, interrupted = new AbortController().signal } = {}) {
  const clock = createManualClock();
  const begin = clock.now();
  const polledAt: number[] = [];
  const script = [...answers];
  const device: DeviceCode = {
    prompt: { link: 'https://id.example.com/device', code: 'ABCD-EFGH' },
    expiresInMs,
    intervalMs: 5_000,
    poll: async () => {
      polledAt.push((clock.now() - begin) / 1_000);
      return script.shift() ?? 'pending';
    },
  };
  const shownCodes: string[] = [];
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    if (!signal?.aborted) await clock.advance(ms);
  };
  const deps = {
    clock: { ...clock, sleep },
    interrupted,
    tell: ({ code }: { code: string }) => void shownCodes.push(code),
  };
  return { polledAt, shownCodes, result: deviceLogin(deps, { startDevice: async () => device }) };
}

describe('a login by device code', () => {
  it('shows the code, and waits until the user has entered it', async () => {
    const { result, shownCodes, polledAt } = logIn(['pending', 'pending', tokens]);
    expect(await result).toBe(tokens);
    expect(shownCodes).toEqual(['ABCD-EFGH']);
    expect(polledAt).toEqual([5, 10, 15]);
  });

  it('asks five seconds less often each time the provider wants that', async () => {
    const { result, polledAt } = logIn(['slow_down', 'pending', 'slow_down', tokens]);
    await result;
    expect(polledAt).toEqual([5, 15, 25, 40]);
  });

  it('asks half as often while the provider cannot be reached', async () => {
    const { result, polledAt } = logIn(['unreachable', 'unreachable', tokens]);
    await result;
    expect(polledAt).toEqual([5, 15, 35]);
  });

  it('ends when the code has expired', async () => {
    const { result, polledAt } = logIn([], { expiresInMs: 12_000 });
    await expect(result).rejects.toMatchObject({ exit: 'timeout', message: 'the code has expired' });
    expect(polledAt).toEqual([5, 10, 15]);
  });

  it('ends at Ctrl-C, without another question', async () => {
    const { result, polledAt } = logIn([], { interrupted: AbortSignal.abort() });
    await expect(result).rejects.toMatchObject({ exit: 'interrupted' });
    expect(polledAt).toEqual([]);
  });
});

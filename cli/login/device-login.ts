import type { Clock } from '../../lib/clock.ts';
import { CliError } from '../exit-codes.ts';
import { type DevicePrompt, expired, type OidcProvider, type Tokens } from './provider.ts';

export interface DeviceLoginDeps {
  readonly clock: Clock;
  /** Aborts at Ctrl-C. */
  readonly interrupted: AbortSignal;
  readonly tell: (prompt: DevicePrompt) => void;
}

/** RFC 8628 §3.5: a provider that asks for it is polled this much less often from then on. */
const slowerMs = 5_000;
const longestMs = 60_000;

/**
 * Lets the user log in, on this machine or another (RFC 8628), and waits for them. Throws when the code expires
 * or is refused, and an interrupted error at Ctrl-C.
 */
export async function deviceLogin(deps: DeviceLoginDeps, provider: Pick<OidcProvider, 'startDevice'>): Promise<Tokens> {
  const { clock, interrupted, tell } = deps;
  const device = await provider.startDevice();
  tell(device.prompt);
  const until = clock.now() + device.expiresInMs;
  let pauseMs = device.intervalMs;
  while (clock.now() < until) {
    await clock.sleep(pauseMs, interrupted);
    if (interrupted.aborted) throw new CliError('interrupted', 'interrupted: not logged in');
    const answer = await device.poll();
    if (typeof answer === 'object') return answer;
    if (answer === 'slow_down') pauseMs += slowerMs;
    if (answer === 'unreachable') pauseMs = Math.min(longestMs, pauseMs * 2);
  }
  throw expired();
}

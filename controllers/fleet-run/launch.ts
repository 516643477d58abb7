import type { Clock } from '../../lib/clock.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import type { EdgeOutcome } from '../../lib/edge/index.ts';
import { fleetRunLimits } from './limits.ts';
import type { CommandLane, FleetCommand } from './ports.ts';

/** Outcome of handing a command over. */
export type Launch =
  /** The relay has it. */
  | { readonly kind: 'sent' }
  /** It may have been sent: the answer was lost, or this process could not find out. */
  | { readonly kind: 'unsure' }
  /** It was never sent, and will not be. */
  | { readonly kind: 'failed'; readonly result: EdgeOutcome }
  /** This process stops. */
  | { readonly kind: 'left' };

interface LaunchDeps {
  readonly lane: Pick<CommandLane, 'claim' | 'send'>;
  readonly clock: Clock;
}

interface Launching {
  readonly command: FleetCommand;
  readonly stop: AbortSignal;
  /** Whether the command is not wanted any more. */
  readonly isCancelled: () => boolean;
}

/**
 * Claims a command and hands it over. One that was claimed by a process before this one, and has no result, is handed over
 * again: a host runs a command id once (proto, InvokeTool), and a command that never left is not lost so.
 */
export async function launch(deps: LaunchDeps, launching: Launching): Promise<Launch> {
  const claimed = await untilDone(deps, launching, () => deps.lane.claim(launching.command));
  if (claimed.kind !== 'done') return claimed;
  if (launching.isCancelled()) return claimed.value ? cancelled : { kind: 'unsure' };
  const sent = await untilDone(deps, launching, () => deps.lane.send(launching.command));
  if (sent.kind === 'done') return { kind: 'sent' };
  // A command that an earlier process has sent may run although its host cannot be reached now.
  return sent.kind === 'failed' && !claimed.value ? { kind: 'unsure' } : sent;
}

const cancelled: Launch = {
  kind: 'failed',
  result: { outcome: 'cancelled', reason: 'the run was stopped before the command left' },
};

type Tried<T> = { readonly kind: 'done'; readonly value: T } | Exclude<Launch, { readonly kind: 'sent' }>;

/** Tries again while the bus or the host is away, until the command's own time is over. */
async function untilDone<T>(
  { clock }: LaunchDeps,
  { command, stop, isCancelled }: Launching,
  call: () => Promise<T>,
): Promise<Tried<T>> {
  const begun = clock.now();
  while (!stop.aborted) {
    try {
      return { kind: 'done', value: await call() };
    } catch (error) {
      const ended = verdictOf(error, clock.now() - begun, command.deadlineSecs * 1_000);
      if (ended !== undefined) return ended;
    }
    if (isCancelled()) return { kind: 'unsure' };
    await clock.sleep(fleetRunLimits.retryMs, stop);
  }
  return { kind: 'left' };
}

type Verdict = Exclude<Launch, { readonly kind: 'sent' }>;

/** Undefined: it is worth another try. */
function verdictOf(error: unknown, passedMs: number, deadlineMs: number): Verdict | undefined {
  if (!(error instanceof AppError)) return failed('InternalError', messageOf(error));
  if (error.code === 'lost_leadership') return { kind: 'left' };
  // The relay may have handed it on; a host runs a command id once.
  const isOpen = error.code === 'unavailable' || error.code === 'timeout';
  if (!isOpen) return failed(error.reason, error.message);
  if (error.reason !== 'EdgeUnavailable') return passedMs < deadlineMs ? undefined : { kind: 'unsure' };
  return passedMs < fleetRunLimits.unreachableMs ? undefined : failed(error.reason, error.message);
}

/** spec 2 §2.4: the host never ran it, so there is no exit code of its own. */
const failed = (code: string, message: string) =>
  ({ kind: 'failed', result: { outcome: 'err', code, message, exit_code: 0 } }) as const;

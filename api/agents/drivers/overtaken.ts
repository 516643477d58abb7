import type { Clock } from '../../../lib/clock.ts';
import { onAbort } from '../../../lib/on-abort.ts';
import type { ConversationLog } from '../conversation/log.ts';
import type { PodChannel } from '../pods/pod-channel.ts';
import { type Driven, withdraw } from './driven.ts';

type WatchedLog = Pick<ConversationLog, 'last' | 'look' | 'overtaken'>;

/** A driver that writes nothing, as while its command waits for a pod, looks so often whether another one has written (ADR 0154). */
export const lookMs = 5_000;

/** Calls `leave` once the log says that another replica has written. Dispose of it where the conversation is driven no more. */
export function watchOvertaken(clock: Pick<Clock, 'sleep'>, log: WatchedLog, leave: () => void): Disposable {
  const over = new AbortController();
  const off = onAbort(log.overtaken, leave);
  void lookAgain(clock, log, AbortSignal.any([over.signal, log.overtaken]));
  return {
    [Symbol.dispose]() {
      off();
      over.abort();
    },
  };
}

/** Never rejects. A record that was stored meanwhile says the same as a look. */
async function lookAgain(clock: Pick<Clock, 'sleep'>, log: WatchedLog, over: AbortSignal): Promise<void> {
  for (let seen = log.last; ; seen = log.last) {
    await clock.sleep(lookMs, over);
    if (over.aborted) return;
    if (log.last === seen) await log.look();
  }
}

/**
 * Requests of pods wait for the next driver from now on, and a call that cannot be made again continues without this one. It is
 * withdrawn first: a request that finds the channel closed asks for the conversation anew.
 */
export function leaveOvertaken(driven: Driven, { overtaken }: WatchedLog, channel: PodChannel): void {
  withdraw(driven);
  driven.moved.abort(overtaken.reason);
  channel.close();
}

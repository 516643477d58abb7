import type { Clock } from '../clock.ts';

/** Ends a stream that has gone silent. Dispose of it when the stream has ended. */
export interface IdleWatch extends Disposable {
  /** Something came. */
  touch(): void;
}

/** Calls `onIdle` once, where nothing has come for `ms`. */
export function startIdleWatch(clock: Clock, ms: number, onIdle: () => void): IdleWatch {
  const ended = new AbortController();
  let last = clock.steadyMs();
  const watch = async (): Promise<void> => {
    for (let left = ms; left > 0; left = last + ms - clock.steadyMs()) {
      await clock.sleep(left, ended.signal);
      if (ended.signal.aborted) return;
    }
    onIdle();
  };
  void watch();
  return {
    touch() {
      last = clock.steadyMs();
    },
    [Symbol.dispose]: () => ended.abort('ended'),
  };
}

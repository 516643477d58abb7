import { AppError } from '../../lib/errors.ts';

/** Lets a bounded number of calls through at a time; the others wait in line. */
type Gate = <T>(call: () => Promise<T>) => Promise<T>;

interface GateLimits {
  readonly atOnce: number;
  readonly waiting: number;
}

/** Beyond both limits a call is refused with AppError `unavailable`. */
export function createGate({ atOnce, waiting }: GateLimits): Gate {
  const line: (() => void)[] = [];
  let inside = 0;
  const enter = (): Promise<void> | undefined => {
    if (inside < atOnce) {
      inside += 1;
      return undefined;
    }
    if (line.length >= waiting) throw new AppError('unavailable', 'too many look-ups', { reason: 'Overloaded' });
    return new Promise((resolve) => line.push(resolve));
  };
  const leave = (): void => {
    const next = line.shift();
    if (next === undefined) inside -= 1;
    else next();
  };
  return async (call) => {
    await enter();
    try {
      return await call();
    } finally {
      leave();
    }
  };
}

import type { ApiProxy } from '../harness/api-proxy.ts';
import { createWriteTracker } from '../harness/write-tracker.ts';

/** A moment at which the controller dies: on its way to a write, or before it hears of the answer. */
export interface CrashPoint {
  readonly signature: string;
  readonly when: 'before' | 'after';
}

/** Each execution has one crash point of its own. */
export type CrashPlan = ReadonlyMap<string, CrashPoint>;

/** Holds executions at their crash points and lets one death of the controller serve all that are held. */
export interface CrashRig {
  /** Executions whose crash point has not been reached yet. */
  readonly pending: ReadonlySet<string>;
  /** Resolves when it is time to kill: all pending ones are held, or nothing new has come for `quietMs`. */
  timeToKill(quietMs: number): Promise<void>;
  /** Breaks the held requests, after the controller is dead. */
  letGo(): void;
}

/**
 * Installs itself as the proxy's rules. A write that is held `before` never reaches the API server; one held `after` has
 * taken effect and the controller never learns of it.
 */
export function createCrashRig(proxy: ApiProxy, plan: CrashPlan): CrashRig {
  const tracker = createWriteTracker();
  const pending = new Set(plan.keys());
  const held: (() => void)[] = [];
  let onHold: () => void = () => undefined;
  const hold = (execution: string): Promise<'reset'> => {
    pending.delete(execution);
    return new Promise((resolve) => {
      held.push(() => resolve('reset'));
      onHold();
    });
  };
  const afterwards = new Map<number, string>();
  proxy.setRules({
    before(exchange) {
      const write = tracker.attribute(exchange);
      if (write === undefined || !pending.has(write.execution)) return 'forward';
      const point = plan.get(write.execution);
      if (point?.signature !== write.signature) return 'forward';
      if (point.when === 'before') return hold(write.execution);
      afterwards.set(exchange.id, write.execution);
      return 'forward';
    },
    after(exchange) {
      const execution = afterwards.get(exchange.id);
      return execution === undefined ? 'send' : hold(execution);
    },
  });
  return {
    pending,
    timeToKill: (quietMs) =>
      new Promise((resolve) => {
        let timer: NodeJS.Timeout;
        const due = (): void => {
          clearTimeout(timer);
          onHold = () => undefined;
          resolve();
        };
        onHold = () => {
          clearTimeout(timer);
          if (pending.size === 0) due();
          else timer = setTimeout(due, quietMs);
        };
        timer = setTimeout(due, quietMs);
        if (held.length > 0) onHold();
      }),
    letGo() {
      for (const release of held.splice(0)) release();
    },
  };
}

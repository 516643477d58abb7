import type { ApiProxy } from '../harness/api-proxy.ts';
import { type AttributedWrite, createWriteNumbers, createWriteTracker } from '../harness/write-tracker.ts';

/** A moment at which the controller dies: on its way to a write, or before it hears of the answer. */
export interface CrashPoint {
  /** As `WriteNumbers` names it. */
  readonly write: string;
  readonly when: 'before' | 'after';
}

/** The crash points of each execution. */
export type CrashPlan = ReadonlyMap<string, readonly CrashPoint[]>;

/** Holds executions at their crash points and lets one death of the controller serve all that are held. */
export interface CrashRig {
  /** Crash points that no run has come to, by execution. */
  pending(): ReadonlyMap<string, readonly CrashPoint[]>;
  /**
   * Resolves to true when it is time to kill: something is held, and nothing more has come for `quietMs`. Resolves to
   * false when no run can come to a crash point any more: none is left, or nothing came for ten times as long.
   */
  timeToKill(quietMs: number): Promise<boolean>;
  /** Breaks the held requests, after the controller is dead. */
  letGo(): void;
}

/**
 * Installs itself as the proxy's rules. A write that is held `before` never reaches the API server; one held `after` has
 * taken effect and the controller never learns of it.
 */
export function createCrashRig(proxy: ApiProxy, plan: CrashPlan): CrashRig {
  const tracker = createWriteTracker();
  const numbers = createWriteNumbers();
  const left = new Map([...plan].map(([execution, points]) => [execution, new Set(points)]));
  const underWay = new Map<number, { readonly write: AttributedWrite; readonly point?: CrashPoint }>();
  const held: (() => void)[] = [];
  let onHold: () => void = () => undefined;
  const pointOf = (write: AttributedWrite, when: CrashPoint['when']): CrashPoint | undefined =>
    [...(left.get(write.execution) ?? [])].find((point) => point.when === when && point.write === numbers.peek(write));
  const hold = (write: AttributedWrite, point: CrashPoint): Promise<'reset'> => {
    left.get(write.execution)?.delete(point);
    return new Promise((resolve) => {
      held.push(() => resolve('reset'));
      onHold();
    });
  };
  proxy.setRules({
    before(exchange) {
      const write = tracker.attribute(exchange);
      if (write === undefined) return 'forward';
      const now = pointOf(write, 'before');
      if (now !== undefined) return hold(write, now);
      underWay.set(exchange.id, { write, point: pointOf(write, 'after') });
      return 'forward';
    },
    after(exchange, status) {
      const known = underWay.get(exchange.id);
      underWay.delete(exchange.id);
      if (known === undefined || status >= 300) return 'send';
      numbers.count(known.write);
      return known.point === undefined ? 'send' : hold(known.write, known.point);
    },
  });
  return {
    pending: () =>
      new Map([...left].filter(([, points]) => points.size > 0).map(([execution, points]) => [execution, [...points]])),
    timeToKill: (quietMs) =>
      new Promise((resolve) => {
        const anyLeft = [...left.values()].some((points) => points.size > 0);
        if (!anyLeft && held.length === 0) return resolve(false);
        const due = (): void => {
          onHold = () => undefined;
          resolve(held.length > 0);
        };
        let timer = setTimeout(due, held.length > 0 ? quietMs : 10 * quietMs);
        onHold = () => {
          clearTimeout(timer);
          timer = setTimeout(due, quietMs);
        };
      }),
    letGo() {
      for (const release of held.splice(0)) release();
    },
  };
}

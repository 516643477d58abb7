import type { ApiProxy } from '../harness/api-proxy.ts';
import { type AttributedWrite, createWriteTracker } from '../harness/write-tracker.ts';

/** A moment at which the controller dies: on its way to a write, or before it hears of the answer. */
export interface CrashPoint {
  /** The nth write that takes effect for the execution, or the first one of a kind. */
  readonly at: number | string;
  readonly when: 'before' | 'after';
}

/** The crash points of each execution. */
type CrashPlan = ReadonlyMap<string, readonly CrashPoint[]>;

/** A death that happened. */
interface Death extends AttributedWrite {
  readonly when: CrashPoint['when'];
}

/** Holds executions at their crash points and lets one death of the controller serve all that are held. */
interface CrashRig {
  readonly deaths: readonly Death[];
  /**
   * Resolves to true when it is time to kill: something is held, and nothing more has come for `quietMs`. Resolves to
   * false when no run can come to a crash point any more: none is left, or `over` has resolved (every run has ended)
   * and the writes that follow the end of a run have had their time.
   */
  timeToKill(quietMs: number, over: Promise<unknown>): Promise<boolean>;
  /** Breaks the held requests, after the controller is dead. */
  letGo(): void;
}

/**
 * Installs itself as the proxy's rules. A write that is held `before` never reaches the API server; one held `after` has
 * taken effect and the controller never learns of it.
 */
export function createCrashRig(proxy: ApiProxy, plan: CrashPlan): CrashRig {
  const tracker = createWriteTracker();
  const left = new Map([...plan].map(([execution, points]) => [execution, new Set(points)]));
  const effective = new Map<string, number>();
  const underWay = new Map<number, AttributedWrite>();
  const deaths: Death[] = [];
  const held: (() => void)[] = [];
  let onHold: () => void = () => undefined;
  const dieAt = (write: AttributedWrite, ordinal: number, when: CrashPoint['when']): Promise<'reset'> | undefined => {
    const points = left.get(write.execution);
    const point = [...(points ?? [])].find(
      ({ at, when: then }) => then === when && (at === ordinal || at === write.kind),
    );
    if (point === undefined) return undefined;
    points?.delete(point);
    deaths.push({ ...write, when });
    return new Promise((resolve) => {
      held.push(() => resolve('reset'));
      onHold();
    });
  };
  proxy.setRules({
    before(exchange) {
      const write = tracker.attribute(exchange);
      if (write === undefined) return 'forward';
      underWay.set(exchange.id, write);
      return dieAt(write, (effective.get(write.execution) ?? 0) + 1, 'before') ?? 'forward';
    },
    after(exchange, status) {
      const write = underWay.get(exchange.id);
      underWay.delete(exchange.id);
      if (write === undefined || status >= 300) return 'send';
      const ordinal = (effective.get(write.execution) ?? 0) + 1;
      effective.set(write.execution, ordinal);
      return dieAt(write, ordinal, 'after') ?? 'send';
    },
  });
  return {
    deaths,
    timeToKill: (quietMs, over) =>
      new Promise((resolve) => {
        const anyLeft = [...left.values()].some((points) => points.size > 0);
        if (!anyLeft && held.length === 0) return resolve(false);
        let timer: NodeJS.Timeout | undefined;
        const dueIn = (ms: number): void => {
          clearTimeout(timer);
          timer = setTimeout(() => {
            onHold = () => undefined;
            resolve(held.length > 0);
          }, ms);
        };
        onHold = () => dueIn(quietMs);
        if (held.length > 0) dueIn(quietMs);
        const afterTheEnd = (): void => {
          if (held.length === 0) dueIn(4 * quietMs);
        };
        over.then(afterTheEnd, afterTheEnd);
      }),
    letGo() {
      for (const release of held.splice(0)) release();
    },
  };
}

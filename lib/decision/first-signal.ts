import type { Signal } from '../../crds/schema/workflow-execution.ts';
import type { CurrentState } from '../../crds/schema/workflow-execution-status.ts';

/** The visit of a Human state that a signal may answer. */
type AskedVisit = Pick<CurrentState, 'state' | 'visit' | 'signals_before' | 'signals_refused'>;

/**
 * The signal that decides a visit: the first that fits. One that names no visit answers the visit that waits. Where a
 * state is entered again, earlier signals do not answer a second time. A signal that the engine found to match no rule
 * answers nothing (requirements AMB-170). The engine takes this one, so a caller that finds none and writes one that
 * matches against the same version of the object has decided.
 */
export function firstSignal(signals: readonly Signal[] | undefined, asked: AskedVisit): Signal | undefined {
  const { signals_before: before = 0, signals_refused: refused = 0 } = asked;
  return signals?.find(
    (signal, index) =>
      index >= refused &&
      signal.state === asked.state &&
      (signal.visit === undefined ? index >= before : signal.visit === asked.visit),
  );
}

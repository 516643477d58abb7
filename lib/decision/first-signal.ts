import type { Signal } from '../../crds/schema/workflow-execution.ts';
import type { CurrentState } from '../../crds/schema/workflow-execution-status.ts';

/** The visit of a Human state that a signal may answer. */
type AskedVisit = Pick<CurrentState, 'state' | 'visit' | 'signals_before'>;

/**
 * The signal that decides a visit: the first that fits. One that names no visit answers the visit that waits; where a
 * state is entered again, signals that stood there before do not answer a second time. The engine takes this one, so
 * whoever finds none and writes one against the same version of the object has decided.
 */
export function firstSignal(signals: readonly Signal[] | undefined, asked: AskedVisit): Signal | undefined {
  const before = asked.signals_before ?? 0;
  return signals?.find(
    (signal, index) =>
      signal.state === asked.state && (signal.visit === undefined ? index >= before : signal.visit === asked.visit),
  );
}

interface Listening {
  readonly acts: Set<() => void>;
  readonly run: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Calls `act` when the signal aborts, at once where it has, unless the answer was called before. All that wait with one signal
 * share one listener: a signal looks through those that it has for each one more or less, and a fleet run has thousands.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => undefined;
  }
  const { acts, run } = listening.get(signal) ?? listen(signal);
  acts.add(act);
  return () => {
    if (!acts.delete(act) || acts.size > 0) return;
    listening.delete(signal);
    signal.removeEventListener('abort', run);
  };
}

function listen(signal: AbortSignal): Listening {
  const acts = new Set<() => void>();
  const run = (): void => {
    listening.delete(signal);
    for (const act of acts) act();
  };
  const made = { acts, run };
  listening.set(signal, made);
  signal.addEventListener('abort', run, { once: true });
  return made;
}

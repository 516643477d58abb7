/** Turns within each tenant: ten thousand that wait cost an entry of a list each, and neither a timer nor a signal. */
export interface TenantTurns {
  /** First come, first served. */
  enter(tenant: string): { readonly turn: Promise<Disposable>; readonly hurry: () => void };
}

interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

/** `most`: turns of one tenant at once, beside those that were hurried. Each is disposed of when its work is done. */
export function createTenantTurns(most: number): TenantTurns {
  const lines = new Map<string, Line>();
  const leave = (tenant: string, line: Line): void => {
    line.running -= 1;
    const [next] = line.waiting;
    if (next !== undefined && line.running < most) begin(line, next);
    else if (line.running === 0) lines.delete(tenant);
  };
  const begin = (line: Line, next: () => void): void => {
    if (!line.waiting.delete(next)) return;
    line.running += 1;
    next();
  };
  return {
    enter(tenant) {
      const line = lines.get(tenant) ?? { running: 0, waiting: new Set() };
      lines.set(tenant, line);
      const { promise, resolve } = Promise.withResolvers<Disposable>();
      const next = (): void => resolve({ [Symbol.dispose]: () => leave(tenant, line) });
      line.waiting.add(next);
      const hurry = (): void => begin(line, next);
      if (line.running < most) hurry();
      return { turn: promise, hurry };
    },
  };
}

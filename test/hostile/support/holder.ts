import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';

/** Output of a process of `held-loop.ts`. */
type Happening = Readonly<Record<string, unknown>>;

export interface Holder {
  readonly said: readonly Happening[];
  /** Where its health is served. */
  readonly url: string;
  /** Begins a turn of that length. Resolves when the turn has begun. */
  hold(ms: number): Promise<void>;
  /** Resolves to what has been said once there is something with that member for the nth time. */
  until(member: string, times?: number): Promise<Happening>;
  /** Lets the process end by itself, as at a SIGTERM. */
  end(): Promise<void>;
}

const program = join(import.meta.dirname, 'held-loop.ts');
/** A turn of the longest kind, and a busy machine. */
const patienceMs = 90_000;

/** Starts a process whose main loop can be held up; `args` are those of `held-loop.ts`. */
export async function startHolder(...args: string[]): Promise<Holder> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const said: Happening[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line) as Happening));
  const seen = (member: string): Happening[] => said.filter((happening) => member in happening);
  const until = async (member: string, times = 1): Promise<Happening> => {
    // Not `expect.poll`, which tests that run side by side have each of their own.
    return vi.waitUntil(() => seen(member)[times - 1], { timeout: patienceMs });
  };
  const { listening } = await until('listening');
  let holds = 0;
  return {
    said,
    until,
    url: `http://127.0.0.1:${String(listening)}`,
    async hold(ms) {
      child.stdin.write(`hold ${ms}\n`);
      await until('holding', ++holds);
    },
    end: () => endOf(child),
  };
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.stdin?.end();
  await gone;
}

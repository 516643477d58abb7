import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { kill as signalTo } from 'node:process';
import { type Clock, resultWithin } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import type { DispatchPlan, DispatchResult } from '../../lib/tools/tool.ts';
import type { CommandLimits } from '../config/schema.ts';
import { daemonLimits } from '../limits.ts';

interface ProcessOptions {
  readonly clock: Clock;
  /** Environment of every command; the daemon's own is not passed on. */
  readonly environment: Readonly<Record<string, string>>;
  /** Niceness of commands. */
  readonly nice: number;
}

/** A part of what a command puts out, as it comes. */
export type OnOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => void;

/** Exit code of the runner where it ended the command after its time; the tools know it (lib/tools/pod). */
const exitTimeout = 124;
/** How shells number the end by a signal. */
const exitSignal = 128;
const exitNotExecutable = 126;
const exitNotFound = 127;

/**
 * Runs a command without a shell, in a process group of its own that is killed as a whole. That happens after the
 * plan's time, when the signal aborts, when the output is larger than the plan permits, and when its first process
 * ends. Never rejects: a command that cannot be started ends with 126 or 127.
 */
export async function runProcess(
  { clock, environment, nice }: ProcessOptions,
  plan: DispatchPlan,
  { signal, onOutput }: { readonly signal: AbortSignal; readonly onOutput: OnOutput },
): Promise<DispatchResult> {
  const started = performance.now();
  const child = spawn(plan.command, plan.args, {
    cwd: plan.cwd,
    env: { ...environment, ...plan.env_additions },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new AbortController();
  const group = createGroup(child, { clock, ended: ended.signal });
  const output = collect(child, { most: plan.max_output_bytes, onOutput, onFull: () => group.end() });
  lower(child, nice);
  let isOver = false;
  void clock.sleep(plan.timeout_secs * 1_000, ended.signal).then(() => {
    if (ended.signal.aborted) return;
    isOver = true;
    group.end();
  });
  const stop = (): void => group.end();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const code = await exitCodeOf(child);
  group.kill();
  await output.done(clock);
  ended.abort();
  signal.removeEventListener('abort', stop);
  return {
    exit_code: isOver ? exitTimeout : code,
    ...output.texts(),
    duration_ms: Math.round(performance.now() - started),
    truncated: output.isFull(),
  };
}

/** Resolves when the first process has ended. */
async function exitCodeOf(child: ChildProcess): Promise<number> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code ?? exitSignal + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? exitNotFound : exitNotExecutable;
  }
}

/** The process group of a command. */
function createGroup(child: ChildProcess, { clock, ended }: { readonly clock: Clock; readonly ended: AbortSignal }) {
  const send = (name: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      // A negative number is the group.
      signalTo(-child.pid, name);
    } catch {
      // The group has ended.
    }
  };
  return {
    kill: () => send('SIGKILL'),
    /** SIGTERM, and SIGKILL where that does not help. */
    end(): void {
      send('SIGTERM');
      void clock.sleep(daemonLimits.killMs, ended).then(() => (ended.aborted ? undefined : send('SIGKILL')));
    },
  };
}

function lower({ pid }: ChildProcess, nice: number): void {
  if (pid === undefined || nice === 0) return;
  try {
    setPriority(pid, nice);
  } catch {
    // It has ended, or may not be lowered: it runs as it is.
  }
}

/** How long output of processes that left the group is waited for. */
const drainMs = 1_000;

function collect(
  child: ChildProcess,
  { most, onOutput, onFull }: { readonly most: number; readonly onOutput: OnOutput; readonly onFull: () => void },
) {
  const parts: Readonly<Record<'stdout' | 'stderr', Buffer[]>> = { stdout: [], stderr: [] };
  let bytes = 0;
  const take = (name: 'stdout' | 'stderr', chunk: Buffer): void => {
    if (bytes > most) return;
    const part = chunk.subarray(0, most - bytes);
    bytes += chunk.length;
    if (part.length > 0) {
      parts[name].push(part);
      onOutput(name, part);
    }
    if (bytes > most) onFull();
  };
  child.stdout?.on('data', (chunk: Buffer) => take('stdout', chunk));
  child.stderr?.on('data', (chunk: Buffer) => take('stderr', chunk));
  const closed = once(child, 'close').catch(() => undefined);
  return {
    isFull: () => bytes > most,
    texts: () => ({
      stdout: Buffer.concat(parts.stdout).toString('utf8'),
      stderr: Buffer.concat(parts.stderr).toString('utf8'),
    }),
    async done(clock: Clock): Promise<void> {
      await resultWithin(clock, drainMs, closed);
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
  };
}

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

const flags: Readonly<Record<keyof CommandLimits, (value: number) => string>> = {
  processes: (value) => `--nproc=${value}`,
  open_files: (value) => `--nofile=${value}`,
  cpu_seconds: (value) => `--cpu=${value}`,
  memory_mib: (value) => `--as=${value * 1_048_576}`,
};

/**
 * The same command under hard limits, which only a process with CAP_SYS_RESOURCE can raise. Node has no way to set them; the program `prlimit` of util-linux
 * sets them and becomes the command, with the exit codes 126 and 127 of shells. Nothing runs without limits that are
 * configured. @throws AppError `LimitsUnavailable` where the program is missing.
 */
export function limitedCommand<T extends Command>(plan: T, limits: CommandLimits, prlimit: string | undefined): T {
  const set = Object.entries(limits).map(([name, value]) => flags[name as keyof CommandLimits](value));
  if (set.length === 0) return plan;
  if (prlimit === undefined) {
    const message = 'limits are configured, and the program prlimit of util-linux, which sets them, is missing';
    throw new AppError('unavailable', message, { reason: 'LimitsUnavailable' });
  }
  return { ...plan, command: prlimit, args: [...set, '--', plan.command, ...plan.args] };
}

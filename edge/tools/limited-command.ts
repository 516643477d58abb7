import { AppError } from '../../lib/errors.ts';
import type { CommandLimits } from '../config/schema.ts';

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

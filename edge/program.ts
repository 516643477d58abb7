import { Command } from 'commander';
import { messageOf, hasReason } from '../lib/errors.ts';
import { doctorCommand } from './commands/doctor.ts';
import { enrollCommand } from './commands/enroll.ts';
import { runCommand } from './commands/run.ts';
import { statusCommand } from './commands/status.ts';
import type { World } from './world.ts';

/** Exit codes for scripts and service managers. */
export const edgeExitCodes = { ok: 0, failed: 1, usage: 2, /** No restart helps: EX_CONFIG. */ revoked: 78 } as const;

export function createEdgeProgram(world: World): Command {
  const program = new Command('windlass-edge')
    .description('The daemon of an edge host: enrolls a machine, and runs the commands that operators send to it.')
    .version(world.version)
    .addHelpText(
      'after',
      '\nExit codes:\n  0   done\n  1   failed\n  2   the command line or the configuration is wrong\n  78  this host is revoked',
    );
  for (const create of [enrollCommand, runCommand, statusCommand, doctorCommand]) program.addCommand(create(world));
  for (const command of [program, ...program.commands]) command.exitOverride().showHelpAfterError('See --help.');
  return program;
}

/** How the process ends that threw the error, and the line that explains it. */
export function explainEdgeError(error: unknown): { readonly line: string; readonly exitCode: number } {
  const line = `error: ${messageOf(error)}`;
  if (hasReason(error, 'Revoked')) return { line, exitCode: edgeExitCodes.revoked };
  const isUsage = hasReason(error, 'Usage') || hasReason(error, 'ConfigInvalid');
  return { line, exitCode: isUsage ? edgeExitCodes.usage : edgeExitCodes.failed };
}

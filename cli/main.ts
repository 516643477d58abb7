#!/usr/bin/env node
import { basename } from 'node:path';
import { CommanderError } from 'commander';
import { systemClock } from '../lib/clock.ts';
import { connect } from './connect.ts';
import { flagsOf } from './backends/choose.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';
import { createLaunch } from './launch.ts';
import { createFiles } from './node-files.ts';
import { createTerminal } from './node-terminal.ts';
import { createProgram, withChildren } from './program.ts';
import type { GlobalOptions } from './command-context.ts';

const { env, stdin, stdout, stderr } = process;
const interrupt = new AbortController();

// The first Ctrl-C lets a command say good-bye; the second ends the process at once.
process.once('SIGINT', () => interrupt.abort());
process.once('SIGTERM', () => interrupt.abort());
stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as head, is no error.
  if (error.code === 'EPIPE') process.exit(exitCodes.ok);
  stderr.write(`error: standard output cannot be written: ${error.code ?? error.message}\n`);
  process.exit(exitCodes.failed);
});
// No reader is left for the error; the exit code says how the command ended.
stderr.on('error', () => undefined);

const parts = {
  terminal: createTerminal({ stdout, stderr, env }),
  files: createFiles(stdin),
  clock: systemClock,
  interrupted: interrupt.signal,
};
const world = { ...parts, open: connect({ ...parts, env, fetch }) };

process.exitCode = await main();

async function main(): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  const launch = createLaunch(world, (result) => {
    code = result;
  });
  const program = createProgram(launch, programName());
  for (const command of withChildren(program)) command.exitOverride();
  try {
    await program.parseAsync(argumentsOf(process.argv.slice(2)), { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (interrupt.signal.aborted) return exitCodes.interrupted;
    if (env['WINDLASS_DEBUG']) stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    const { lines, exitCode } = explainError(error, flagsOf(program.opts<GlobalOptions>()));
    stderr.write(`${lines.join('\n')}\n`);
    return exitCode;
  }
  return code;
}

function programName(): string {
  return basename(process.argv[1] ?? '').startsWith('kubectl-') ? 'kubectl windlass' : 'windlass';
}

/** `--version` alone is a question about windlass; elsewhere it is an option of commands. */
function argumentsOf(typed: readonly string[]): readonly string[] {
  return typed.length === 1 && (typed[0] === '--version' || typed[0] === '-V') ? ['version', '--client'] : typed;
}

import { Command, type OptionValues } from 'commander';
import { assertGiven } from './assert-given.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { type GlobalOptions, createCommandContext, type CommandContext, type CommandWorld } from './command-context.ts';

/** The action of a command. `args` are its positional arguments; one left out is undefined. */
export type Run<Options extends OptionValues> = (
  context: CommandContext,
  args: readonly (string | undefined)[],
  options: Options,
) => Promise<ExitCode>;

/** Turns a command's work into what commander calls. */
export type CliLaunch = <Options extends OptionValues>(run: Run<Options>) => (...values: unknown[]) => Promise<void>;

/** Runs commands in `world` and hands their exit code to `finish`. */
export function createLaunch(world: CommandWorld, finish: (code: ExitCode) => void): CliLaunch {
  return <Options extends OptionValues>(run: Run<Options>) =>
    async (...values) => {
      const command = values.at(-1);
      if (!(command instanceof Command)) throw new TypeError('commander passes the command last');
      assertGiven(command);
      const context = createCommandContext(world, command.optsWithGlobals<GlobalOptions>());
      finish(await run(context, command.args, command.opts<Options>()));
    };
}

/** For those who only read the tree of commands: help, completion, reference. */
export const launchNothing: CliLaunch = () => () => Promise.resolve();

/** For commands that have nothing to say about the execution. */
export const ok: ExitCode = exitCodes.ok;

/** Collects the values of an option that may be given several times. */
export function repeatable(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}

/** Examples below the options of `--help`, one `command  # purpose` a line. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;
}

import { Command, Option } from 'commander';
import { cancelCommand } from './commands/cancel.ts';
import { completeCommand, completionCommand } from './commands/completion.ts';
import { convertCommand } from './commands/convert.ts';
import { approveCommand, rejectCommand, signalCommand } from './commands/decide.ts';
import { getCommand } from './commands/get.ts';
import { listCommand } from './commands/list.ts';
import { logsCommand } from './commands/logs.ts';
import { runCommand } from './commands/run.ts';
import { tenantCommand } from './commands/tenant.ts';
import { versionCommand } from './commands/version.ts';
import { waitCommand } from './commands/wait.ts';
import { workflowCommand } from './commands/workflow.ts';
import { type ExitName, exitCodes, exitMeanings } from './exit-codes.ts';
import { examples, type Launch } from './launch.ts';
import { outputFormats } from './session.ts';

/** The whole tree of commands. Building it reads nothing and loads nothing heavy. */
export function createProgram(launch: Launch, name = 'windlass'): Command {
  const program = new Command(name)
    .description('Runs workflows on Kubernetes: define them, start them, watch them, decide, read their output.')
    .option('-n, --namespace <namespace>', 'namespace; by default that of the kubeconfig context')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--kubeconfig <file>', 'kubeconfig file; by default KUBECONFIG, then ~/.kube/config')
    .addOption(new Option('-o, --output <format>', 'output format').choices(outputFormats))
    .addHelpText('after', exitCodeHelp)
    .addHelpText(
      'after',
      examples(
        'windlass workflow register hello.yaml',
        'windlass run hello --input name=Ada --watch',
        'windlass logs hello-x7k2p',
        'windlass list --phase waiting',
      ),
    );
  const commands = [
    workflowCommand(launch),
    runCommand(launch),
    getCommand(launch),
    listCommand(launch),
    logsCommand(launch),
    approveCommand(launch),
    rejectCommand(launch),
    signalCommand(launch),
    cancelCommand(launch),
    waitCommand(launch),
    convertCommand(launch),
    tenantCommand(launch),
    completionCommand(launch),
    versionCommand(launch),
  ];
  for (const command of commands) program.addCommand(command);
  program.addCommand(completeCommand(launch), { hidden: true });
  for (const command of withChildren(program))
    command.configureHelp({ showGlobalOptions: true, sortSubcommands: false });
  for (const command of withChildren(program)) command.showHelpAfterError(`See ${pathOf(command)} --help.`);
  return program;
}

/** `windlass workflow get`: what a user types to call the command. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** A command and all below it. */
export function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}

const exitCodeHelp = `\nExit codes:\n${Object.entries(exitCodes)
  .map(([name, code]) => `  ${String(code).padStart(3)}  ${exitMeanings[name as ExitName]}`)
  .join('\n')}`;

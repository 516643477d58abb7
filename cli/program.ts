import { Command, Option } from 'commander';
import { rerunCommand, retryCommand } from './commands/again.ts';
import { agentCommand } from './commands/agent.ts';
import { approvalsCommand } from './commands/approvals.ts';
import { cancelCommand } from './commands/cancel.ts';
import { completeCommand, completionCommand } from './commands/completion.ts';
import { convertCommand } from './commands/convert.ts';
import { approveCommand, rejectCommand, signalCommand } from './commands/decide.ts';
import { deleteCommand } from './commands/delete.ts';
import { edgeCommand } from './commands/edge.ts';
import { execCommand } from './commands/exec.ts';
import { gatewayCommand } from './commands/tool-gateway/gateway.ts';
import { getCommand } from './commands/get.ts';
import { listCommand } from './commands/list.ts';
import { loginCommand, logoutCommand, whoamiCommand } from './commands/login.ts';
import { logsCommand } from './commands/logs.ts';
import { runCommand } from './commands/run.ts';
import { stimulusCommand } from './commands/stimulus.ts';
import { tenantCommand } from './commands/tenant.ts';
import { toolsCommand } from './commands/tools.ts';
import { validateCommand } from './commands/validate.ts';
import { versionCommand } from './commands/version.ts';
import { waitCommand } from './commands/wait.ts';
import { workflowCommand } from './commands/workflow.ts';
import { type ExitName, exitCodes, exitMeanings } from './exit-codes.ts';
import { withOwnWord } from './foreign-words.ts';
import { examples, type CliLaunch } from './launch.ts';
import { outputFormats } from './command-context.ts';

/** The whole tree of commands. Building it reads nothing and loads nothing heavy. */
export function createProgram(launch: CliLaunch, name = 'windlass'): Command {
  const program = withOptions(new Command(name))
    .description(
      'Runs workflows on Kubernetes: define them, start them, watch them, decide, read their output. It talks ' +
        'straight to the cluster of a kubeconfig, or with --server through the HTTP API.',
    )
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
  for (const create of commands) program.addCommand(create(launch));
  program.addCommand(completeCommand(launch), { hidden: true });
  for (const command of withChildren(program))
    command.configureHelp({ showGlobalOptions: true, sortSubcommands: false });
  for (const command of withChildren(program)) {
    command.showHelpAfterError(`See ${pathOf(command)} --help.`);
    command.configureOutput({ outputError: (text, write) => write(withOwnWord(text, placeOf(command, name))) });
  }
  return program;
}

const placeOf = (command: Command, program: string) => ({
  program,
  options: command.options.flatMap(({ long }) => long ?? []),
  takesFiles: command.registeredArguments.some((argument) => argument.name() === 'file'),
});

/** In the order of `--help`. */
const commands: readonly ((launch: CliLaunch) => Command)[] = [
  validateCommand,
  workflowCommand,
  runCommand,
  getCommand,
  listCommand,
  logsCommand,
  approveCommand,
  rejectCommand,
  signalCommand,
  approvalsCommand,
  cancelCommand,
  rerunCommand,
  retryCommand,
  deleteCommand,
  waitCommand,
  agentCommand,
  execCommand,
  edgeCommand,
  stimulusCommand,
  toolsCommand,
  gatewayCommand,
  convertCommand,
  loginCommand,
  logoutCommand,
  whoamiCommand,
  tenantCommand,
  completionCommand,
  versionCommand,
];

function withOptions(program: Command): Command {
  return program
    .option('-n, --namespace <namespace>', 'namespace; by default that of the kubeconfig context')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--kubeconfig <file>', 'kubeconfig file; by default KUBECONFIG, then ~/.kube/config')
    .option('--server <url>', 'go through the HTTP API at this address; by default WINDLASS_SERVER, else Kubernetes')
    .option('--tenant <slug>', 'with the API: the tenant a service account acts for; by default WINDLASS_TENANT')
    .option(
      '--token-file <file>',
      'with the API: a file with the token; by default WINDLASS_TOKEN, then WINDLASS_TOKEN_FILE, then the login',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(outputFormats));
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

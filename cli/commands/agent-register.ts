import { Command, Option } from 'commander';
import type { Agent } from '../../crds/schema/agent.ts';
import { formNames, formNotes } from '../../lib/manifest/form-names.ts';
import { type FileAgent, readAgentFiles } from '../agent-files.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { problemLine } from '../manifest-files.ts';
import { noteWarnings } from '../note-warnings.ts';
import { printedList } from '../print-object.ts';
import type { CommandSession } from '../session.ts';

interface RegisterOptions {
  readonly force?: boolean;
  readonly scope?: 'tenant' | 'global';
}

export function agentValidateCommand(launch: CliLaunch): Command {
  return new Command('validate')
    .summary('check agents in files')
    .description('Checks agents in files without sending anything, and says what is wrong with file, line and column.')
    .argument('<file...>', 'files or directories; - reads standard input')
    .addHelpText('after', examples('windlass agent validate reviewer.yaml'))
    .action(launch(validate));
}

export function agentRegisterCommand(launch: CliLaunch): Command {
  return new Command('register')
    .summary('create or update agents')
    .description(
      'Creates or updates agents from files. All files are checked first; when one has a problem, nothing is written. ' +
        'A version that exists with other content is refused, unless forced.',
    )
    .argument('<file...>', 'files or directories; - reads standard input')
    .option('--force', 'replace a version that exists with other content')
    .addOption(
      new Option('--scope <scope>', 'whom they are for: your tenant (the default) or every tenant').choices([
        'tenant',
        'global',
      ]),
    )
    .addHelpText('after', examples('windlass agent register reviewer.yaml', 'windlass agent register agents/ --force'))
    .action(launch(register));
}

const validate: Run<object> = async (session, paths): Promise<ExitCode> => {
  const found = await readAgentFiles(session, paths);
  const agents = usable(session, found);
  for (const { file, form, agent } of found) {
    if (agent === undefined) continue;
    const { metadata, spec } = agent;
    session.terminal.out(`${file}: agent ${metadata.name} ${spec.version} is valid (${formNotes[form]})`);
  }
  return agents === undefined ? exitCodes.failed : ok;
};

const register: Run<RegisterOptions> = async (
  session,
  paths,
  { scope = 'tenant', force = false },
): Promise<ExitCode> => {
  const agents = usable(session, await readAgentFiles(session, paths));
  if (agents === undefined) return exitCodes.failed;
  const backend = await session.backend();
  const written: Agent[] = [];
  for (const agent of agents) {
    const { result, agent: object, where, warnings } = await backend.agents.register(agent, { scope, force });
    noteWarnings(session.terminal, `agent ${object.metadata.name}`, warnings);
    if (session.format === undefined || session.format === 'wide') {
      session.terminal.out(`agent ${object.metadata.name} ${object.spec.version} ${result} ${where}`);
    }
    written.push(object);
  }
  await printedList(session, written);
  return ok;
};

/** The agents, or undefined where something is wrong with one. Every problem is printed on standard error. */
function usable(
  { terminal }: Pick<CommandSession, 'terminal'>,
  found: readonly FileAgent[],
): readonly Agent[] | undefined {
  const errors = found.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
  for (const { file, problems } of found) for (const problem of problems) terminal.note(problemLine(file, problem));
  const forms = new Set(found.filter(({ agent }) => agent === undefined).map(({ form }) => formNames[form]));
  const where = `in the ${[...forms].join(' and the ')}`;
  if (errors.length > 0)
    terminal.note(`error: ${errors.length} problem${errors.length === 1 ? '' : 's'} found, ${where}`);
  return errors.length > 0 ? undefined : found.map(({ agent }) => agent).filter((agent) => agent !== undefined);
}

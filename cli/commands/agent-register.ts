import { Command, Option } from 'commander';
import type { Agent } from '../../crds/schema/agent.ts';
import { formNames, formNotes } from '../../lib/manifest/form-names.ts';
import type { ReadAgent } from '../../lib/manifest/read-agents.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { shown } from '../files.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { problemLine } from '../manifest-files.ts';
import { noteWarnings } from '../note-warnings.ts';
import { printedList } from '../print-object.ts';
import type { CommandContext } from '../command-context.ts';

/** One agent of a file, or what keeps it from being one. */
interface FileAgent extends ReadAgent {
  /** The path as it was given; `<stdin>` for standard input. */
  readonly file: string;
}

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

const validate: Run<object> = async (context, paths): Promise<ExitCode> => {
  const found = await readAgentFiles(context, paths);
  const agents = usable(context, found);
  for (const { file, form, agent } of found) {
    if (agent === undefined) continue;
    const { metadata, spec } = agent;
    context.terminal.out(`${file}: agent ${metadata.name} ${spec.version} is valid (${formNotes[form]})`);
  }
  return agents === undefined ? exitCodes.failed : ok;
};

const register: Run<RegisterOptions> = async (
  context,
  paths,
  { scope = 'tenant', force = false },
): Promise<ExitCode> => {
  const agents = usable(context, await readAgentFiles(context, paths));
  if (agents === undefined) return exitCodes.failed;
  const backend = await context.backend();
  const written: Agent[] = [];
  for (const agent of agents) {
    const { result, agent: object, where, warnings } = await backend.agents.register(agent, { scope, force });
    noteWarnings(context.terminal, `agent ${object.metadata.name}`, warnings);
    if (context.format === undefined || context.format === 'wide') {
      context.terminal.out(`agent ${object.metadata.name} ${object.spec.version} ${result} ${where}`);
    }
    written.push(object);
  }
  await printedList(context, written);
  return ok;
};

/** The agents, or undefined where something is wrong with one. Every problem is printed on standard error. */
function usable(
  { terminal }: Pick<CommandContext, 'terminal'>,
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

const mentionsAgent = (text: string): boolean =>
  /^\s*["']?kind["']?\s*:\s*["']?Agent\b/m.test(text) || /"kind"\s*:\s*"Agent"/.test(text);

/** Every agent of the files and directories named. A file of a directory that holds none is passed over, with a note. */
async function readAgentFiles(
  { files, terminal }: Pick<CommandContext, 'files' | 'terminal'>,
  paths: readonly (string | undefined)[],
): Promise<FileAgent[]> {
  const { readAgents } = await import('../../lib/manifest/read-agents.ts');
  const found: FileAgent[] = [];
  for (const path of paths.filter((one) => one !== undefined)) {
    const before = found.length;
    for (const file of await files.manifests(path)) {
      const text = await files.read(file);
      if (file !== path && !mentionsAgent(text)) terminal.note(`${file}: passed over, there is no Agent in it`);
      else found.push(...readAgents(text).map((document) => ({ ...document, file: shown(file) })));
    }
    if (found.length === before) found.push({ ...nothing, file: shown(path) });
  }
  return found;
}

const nothing: ReadAgent = {
  form: 'manifest',
  problems: [
    { line: 1, column: 1, path: '', at: [], rule: 'empty', message: 'there is no agent in it', severity: 'error' },
  ],
};

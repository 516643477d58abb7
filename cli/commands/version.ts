import { Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';

interface VersionOptions {
  readonly client?: boolean;
}

export function versionCommand(launch: CliLaunch): Command {
  return new Command('version')
    .summary('show versions')
    .description('Shows the version of windlass and of the cluster.')
    .option('--client', 'of windlass only; needs no cluster')
    .addHelpText('after', examples('windlass version', 'windlass version --client -o json'))
    .action(launch(version));
}

const version: Run<VersionOptions> = async (context, _, { client }): Promise<ExitCode> => {
  const { terminal } = context;
  if (client) {
    if (!(await printedValue(context, { client: manifest.version }))) terminal.out(`windlass ${manifest.version}`);
    return ok;
  }
  const backend = await context.backend();
  const other = await backend.version();
  if (await printedValue(context, { client: manifest.version, [other.name]: other.version })) return ok;
  terminal.out(`windlass ${manifest.version}`);
  terminal.out(`${other.name} ${other.version}`);
  return ok;
};

import { Command } from 'commander';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { isUsable, readWorkflowFiles } from '../manifest-files.ts';
import { serialised } from '../print-object.ts';
import { noteProblems } from './workflow-validate.ts';

export function workflowKustomizeCommand(launch: CliLaunch): Command {
  return new Command('kustomize')
    .summary('print what Kustomize must know of workflows')
    .description(
      'Prints a transformer configuration for Kustomize, to be named under configurations: of a kustomization. With it ' +
        'images: changes the images of these workflows, and namePrefix: and generated Secrets reach the names that they ' +
        'refer to. Print it again when states come or go. Needs no cluster.',
    )
    .argument('<file...>', 'files or directories; - reads standard input')
    .addHelpText('after', examples('windlass workflow kustomize review.yaml > windlass.yaml'))
    .action(launch(kustomize));
}

const kustomize: Run<object> = async (context, paths): Promise<ExitCode> => {
  const found = await readWorkflowFiles(context, paths);
  const usable = found.filter(isUsable);
  if (usable.length < found.length) {
    noteProblems(context, found);
    return exitCodes.failed;
  }
  const { kustomizeConfig } = await import('../../lib/manifest/kustomize-config.ts');
  const config = kustomizeConfig(usable.map(({ workflow }) => workflow));
  context.terminal.out(await serialised(config, context.format === 'json' ? 'json' : 'yaml'));
  return ok;
};

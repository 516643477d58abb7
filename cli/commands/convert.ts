import { Command, Option } from 'commander';
import type { WorkflowForm } from '../../lib/manifest/index.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { type FileWorkflow, isUsable, readWorkflowFiles } from '../manifest-files.ts';
import { serialised } from '../print-object.ts';
import { noteProblems } from './workflow-validate.ts';

interface ConvertOptions {
  readonly to?: WorkflowForm;
}

export function convertCommand(launch: CliLaunch): Command {
  return new Command('convert')
    .summary('turn a manifest into a custom resource, or back')
    .description(
      'Prints the workflows of files in the other form: the manifest keeps version, description, schemas and output ' +
        'template under metadata, the custom resource keeps them under spec. Nothing but comments is lost.',
    )
    .argument('<file...>', 'files or directories; - reads standard input')
    .addOption(
      new Option('--to <form>', 'the form to print; by default the one a file is not in').choices([
        'manifest',
        'resource',
      ]),
    )
    .addHelpText(
      'after',
      examples('windlass convert review.yaml > resource.yaml', 'windlass convert --to manifest - < resource.yaml'),
    )
    .action(launch(convert));
}

const convert: Run<ConvertOptions> = async (context, paths, { to }): Promise<ExitCode> => {
  const found = await readWorkflowFiles(context, paths);
  const usable = found.filter(isUsable);
  if (usable.length < found.length) {
    noteProblems(context, found);
    return exitCodes.failed;
  }
  const { toManifest } = await import('../../lib/manifest/index.ts');
  const converted = usable.map(({ form, workflow }) =>
    formOf(form, to) === 'manifest' ? toManifest(workflow) : workflow,
  );
  const format = context.format === 'json' ? 'json' : 'yaml';
  const texts = await Promise.all(converted.map((each) => serialised(each, format)));
  context.terminal.out(texts.join(format === 'json' ? '\n' : '\n---\n'));
  return ok;
};

function formOf(form: FileWorkflow['form'], to: WorkflowForm | undefined): WorkflowForm {
  return to ?? (form === 'manifest' ? 'resource' : 'manifest');
}

import { Command, Option } from 'commander';
import type { WorkflowForm } from '../../lib/manifest/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { serialised } from '../print-object.ts';

interface SchemaOptions {
  readonly form: WorkflowForm;
}

export function workflowSchemaCommand(launch: CliLaunch): Command {
  return new Command('schema')
    .summary('print the JSON Schema of workflows, for editors')
    .description(
      'Prints the JSON Schema (2020-12) of a workflow. An editor with the YAML language server completes and checks a ' +
        'file whose first line names it: # yaml-language-server: $schema=workflow.schema.json',
    )
    .addOption(
      new Option('--form <form>', 'the form of the files')
        .choices(['resource', 'manifest'] satisfies WorkflowForm[])
        .default('resource'),
    )
    .addHelpText('after', examples('windlass workflow schema > workflow.schema.json'))
    .action(launch(schema));
}

const names: Readonly<Record<WorkflowForm, string>> = { resource: 'workflow', manifest: 'workflow-manifest' };

const schema: Run<SchemaOptions> = async (context, _, { form }): Promise<ExitCode> => {
  const { editorSchemas } = await import('../../crds/editor-schema.ts');
  const found = editorSchemas().get(names[form]) ?? {};
  context.terminal.out(await serialised(found, context.format === 'yaml' ? 'yaml' : 'json'));
  return ok;
};

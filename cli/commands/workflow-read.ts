import { Command } from 'commander';
import { annotations as ours } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { VersionRow, WorkflowRow } from '../backends/backend.ts';
import { formatAge } from '../duration.ts';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedList, printedObject, printedValue, serialised } from '../print-object.ts';
import { type Column, tableLines } from '../table.ts';

export function workflowListCommand(launch: CliLaunch): Command {
  return new Command('list')
    .alias('ls')
    .summary('list workflows')
    .description('Lists the workflows that can be run here: those of the namespace and the global ones.')
    .option('-A, --all-namespaces', 'of every namespace')
    .addHelpText('after', examples('windlass workflow list', 'windlass workflow list -A -o name'))
    .action(launch(list));
}

export function workflowGetCommand(launch: CliLaunch): Command {
  return new Command('get')
    .summary('show one workflow')
    .description('Shows the definition of a workflow, by default as YAML.')
    .argument('<workflow>', 'name or uid of the workflow')
    .option('--version <version>', 'a stored version instead of the newest')
    .addHelpText(
      'after',
      examples('windlass workflow get review', 'windlass workflow get review --version 1.2.0 -o json'),
    )
    .action(launch(get));
}

export function workflowVersionsCommand(launch: CliLaunch): Command {
  return new Command('versions')
    .summary('list the stored versions of a workflow')
    .description('Lists the stored versions of a workflow, the newest first.')
    .argument('<workflow>', 'name or uid of the workflow')
    .addHelpText('after', examples('windlass workflow versions review'))
    .action(launch(versions));
}

const list: Run<{ readonly allNamespaces?: boolean }> = async (context, _, { allNamespaces }): Promise<ExitCode> => {
  const { workflows, words } = await context.backend();
  const rows = await workflows.list({ everywhere: allNamespaces === true });
  if (
    await printedList(
      context,
      rows.map(({ object }) => object),
    )
  )
    return ok;
  if (rows.length === 0) {
    context.terminal.note(`no workflows ${words.place}; register one: windlass workflow register FILE`);
    return ok;
  }
  const columns = columnsAt(context.clock.now(), allNamespaces === true);
  for (const line of tableLines(columns, rows, context.format === 'wide')) context.terminal.out(line);
  return ok;
};

const get: Run<{ readonly version?: string }> = async (context, [name = ''], { version }): Promise<ExitCode> => {
  const { workflows } = await context.backend();
  const workflow = await workflows.read(name, version);
  if (await printedObject(context, workflow)) return ok;
  context.terminal.out(await serialised(brief(workflow), 'yaml'));
  return ok;
};

/** The manifest as its author wrote it, without fields that the server adds. */
function brief({ apiVersion, kind, metadata, spec }: Workflow): object {
  const { name, namespace, labels } = metadata;
  const annotations = withoutNotes(metadata.annotations);
  return { apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec };
}

/** The annotation of kubectl apply copies what is shown anyway, and force was for one registration. */
const notes = new Set(['kubectl.kubernetes.io/last-applied-configuration', ours.force]);

function withoutNotes(annotations: Readonly<Record<string, string>> = {}): Record<string, string> | undefined {
  const others = Object.entries(annotations).filter(([name]) => !notes.has(name));
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}

const versions: Run<object> = async (context, [name = '']): Promise<ExitCode> => {
  const { workflows } = await context.backend();
  const rows = await workflows.versions(name);
  if (await printedValue(context, rows.map(versionObject))) return ok;
  const now = context.clock.now();
  const columns: Column<VersionRow>[] = [
    { heading: 'VERSION', cell: (row) => row.version },
    { heading: 'CURRENT', cell: (row) => (row.current ? 'yes' : 'no') },
    { heading: 'AGE', cell: (row) => formatAge(row.registeredAt, now) },
    { heading: 'REVISION', cell: (row) => row.revision, wide: true },
  ];
  if (context.format === 'name') for (const row of rows) context.terminal.out(row.version);
  else for (const line of tableLines(columns, rows, context.format === 'wide')) context.terminal.out(line);
  return ok;
};

function versionObject({ version, current, registeredAt, revision }: VersionRow): object {
  return { version, current, registered_at: registeredAt, revision };
}

function columnsAt(now: number, everywhere: boolean): Column<WorkflowRow>[] {
  const namespace: Column<WorkflowRow> = { heading: 'NAMESPACE', cell: (row) => row.namespace, wide: !everywhere };
  return [
    ...(everywhere ? [namespace] : []),
    { heading: 'NAME', cell: ({ name }) => name },
    { heading: 'VERSION', cell: ({ version }) => version },
    { heading: 'SCOPE', cell: ({ scope }) => scope },
    { heading: 'READY', cell: ({ ready }) => ready },
    { heading: 'AGE', cell: ({ createdAt }) => formatAge(createdAt, now) },
    ...(everywhere ? [] : [namespace]),
    { heading: 'STATES', cell: ({ states }) => states, wide: true },
    { heading: 'DESCRIPTION', cell: ({ description }) => description?.split('\n', 1)[0], wide: true },
    { heading: 'MESSAGE', cell: ({ message }) => message, wide: true },
  ];
}

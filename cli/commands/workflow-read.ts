import { Command } from 'commander';
import { conditionTypes } from '../../crds/conditions.ts';
import { globalNamespace } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { workflows } from '../../lib/kinds.ts';
import { specOfVersion } from '../../lib/registration/index.ts';
import { formatAge } from '../duration.ts';
import type { ExitCode } from '../exit-codes.ts';
import { findWorkflow, workflowName } from '../find-workflow.ts';
import { examples, type Launch, ok, type Run } from '../launch.ts';
import { printedList, printedObject, printedValue, serialised } from '../print-object.ts';
import { type Column, tableLines } from '../table.ts';
import { unlessRefused } from '../unless-refused.ts';

export function workflowListCommand(launch: Launch): Command {
  return new Command('list')
    .alias('ls')
    .summary('list workflows')
    .description('Lists the workflows that can be run here: those of the namespace and the global ones.')
    .option('-A, --all-namespaces', 'of every namespace')
    .addHelpText('after', examples('windlass workflow list', 'windlass workflow list -A -o name'))
    .action(launch(list));
}

export function workflowGetCommand(launch: Launch): Command {
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

export function workflowVersionsCommand(launch: Launch): Command {
  return new Command('versions')
    .summary('list the stored versions of a workflow')
    .description('Lists the stored versions of a workflow, the newest first.')
    .argument('<workflow>', 'name or uid of the workflow')
    .addHelpText('after', examples('windlass workflow versions review'))
    .action(launch(versions));
}

const list: Run<{ readonly allNamespaces?: boolean }> = async (session, _, { allNamespaces }): Promise<ExitCode> => {
  const { kube, namespace } = await session.cluster();
  const items = allNamespaces
    ? (await kube.listAll(workflows)).items
    : [
        ...(await kube.listAll(workflows, { namespace })).items,
        ...(namespace === globalNamespace
          ? []
          : ((await unlessRefused(kube.listAll(workflows, { namespace: globalNamespace })))?.items ?? [])),
      ];
  if (await printedList(session, items)) return ok;
  if (items.length === 0) {
    session.terminal.note(`no workflows in namespace ${namespace}; register one: windlass workflow register FILE`);
    return ok;
  }
  const columns = columnsAt(session.clock.now());
  for (const line of tableLines(columns, items, session.format === 'wide')) session.terminal.out(line);
  return ok;
};

const get: Run<{ readonly version?: string }> = async (session, [name = ''], { version }): Promise<ExitCode> => {
  const cluster = await session.cluster();
  const workflow = await findWorkflow(cluster, name);
  const spec = await specOfVersion(cluster.kube, workflow, version);
  const shown = { ...workflow, spec };
  if (await printedObject(session, shown)) return ok;
  const { apiVersion, kind, metadata } = workflow;
  const { labels } = metadata;
  const annotations = withoutLastApplied(metadata.annotations);
  const brief = { name: metadata.name, namespace: metadata.namespace, labels, annotations };
  session.terminal.out(await serialised({ apiVersion, kind, metadata: brief, spec }, 'yaml'));
  return ok;
};

/** What kubectl apply notes for itself is a copy of what is shown anyway. */
function withoutLastApplied(annotations: Readonly<Record<string, string>> = {}): Record<string, string> | undefined {
  const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...others } = annotations;
  return Object.keys(others).length > 0 ? others : undefined;
}

const versions: Run<object> = async (session, [name = '']): Promise<ExitCode> => {
  const cluster = await session.cluster();
  const workflow = await findWorkflow(cluster, name);
  const stored = workflow.status?.versions ?? [];
  if (await printedValue(session, stored)) return ok;
  const now = session.clock.now();
  const columns: Column<(typeof stored)[number]>[] = [
    { heading: 'VERSION', cell: (row) => row.version },
    { heading: 'CURRENT', cell: (row) => (row.version === workflow.spec.version ? 'yes' : 'no') },
    { heading: 'AGE', cell: (row) => formatAge(row.registered_at, now) },
    { heading: 'REVISION', cell: (row) => row.revision, wide: true },
  ];
  if (session.format === 'name') for (const row of stored) session.terminal.out(row.version);
  else for (const line of tableLines(columns, stored, session.format === 'wide')) session.terminal.out(line);
  return ok;
};

function columnsAt(now: number): Column<Workflow>[] {
  const ready = ({ status }: Workflow) => status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  return [
    { heading: 'NAME', cell: workflowName },
    { heading: 'VERSION', cell: ({ spec }) => spec.version },
    { heading: 'SCOPE', cell: ({ metadata }) => (metadata.namespace === globalNamespace ? 'global' : 'tenant') },
    { heading: 'READY', cell: (workflow) => ready(workflow)?.status ?? 'Unknown' },
    { heading: 'AGE', cell: ({ metadata }) => formatAge(metadata.creationTimestamp, now) },
    { heading: 'NAMESPACE', cell: ({ metadata }) => metadata.namespace, wide: true },
    { heading: 'STATES', cell: ({ spec }) => Object.keys(spec.states).length, wide: true },
    { heading: 'DESCRIPTION', cell: ({ spec }) => spec.description?.split('\n', 1)[0], wide: true },
    { heading: 'MESSAGE', cell: (workflow) => ready(workflow)?.message, wide: true },
  ];
}

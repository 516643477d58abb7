import type { Workflow } from '../../crds/schema/workflow.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { workflowName } from '../../lib/manifest/object-name.ts';
import { agentInformer } from '../agent/informer.ts';
import { wakeNaming, wakeOfRevision, wakeOfRun } from '../definition/wakes.ts';
import { executionInformer, revisionKey } from '../execution/informer.ts';
import { type Wakes, defineModule } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { tenantInformer, endingNamespaces } from '../tenants.ts';
import { revisionInformer, workflowInformer, workflowKey } from './informers.ts';
import { createWorkflowReconcile } from './reconcile.ts';

/** The caches that workflows are judged from. */
const workflowInformers = {
  workflows: workflowInformer,
  agents: agentInformer,
  revisions: revisionInformer,
  executions: executionInformer,
  tenants: tenantInformer,
} as const;

/** Workflows that name an object by its name or its uid. */
const naming = (
  workflows: Pick<CacheReader<Workflow, 'names'>, 'byIndex'>,
  what: 'agent' | 'workflow',
  ...names: readonly (string | undefined)[]
): readonly Workflow[] => names.flatMap((name) => workflows.byIndex('names', `${what}/${name}`));

/**
 * A revision without its workflow is deleted when no execution runs it any more: checked when it is seen and when a
 * run ends.
 */
export const workflowWakes: Wakes<typeof workflowInformers> = {
  workflows: (change, { workflows }) => [
    ...wakeItself(change),
    ...wakeNaming(change, ({ metadata }) => naming(workflows.cache, 'workflow', workflowName(metadata), metadata.uid)),
  ],
  agents: (change, { workflows }) =>
    wakeNaming(change, ({ metadata }) => naming(workflows.cache, 'agent', metadata.name, metadata.uid)),
  revisions: (change, { workflows }) =>
    wakeOfRevision(change, { definitions: workflows.cache, definitionKey: workflowKey }),
  executions: (change, { workflows, revisions }) =>
    wakeOfRun(change, {
      definitions: workflows.cache,
      revisions: revisions.cache,
      definitionKey: workflowKey,
      revisionKey,
    }),
};

export const workflowModule = defineModule({
  kind: 'Workflow',
  informers: workflowInformers,
  wakes: workflowWakes,
  reconcile: ({ kube, clock, turns, informers: { workflows, agents, revisions, executions, tenants } }) =>
    createWorkflowReconcile({
      kube,
      clock,
      workflows: workflows.cache,
      agents: agents.cache,
      revisions: revisions.cache,
      executions: executions.cache,
      wholeWorkflow: workflows.whole,
      wholeRevision: revisions.whole,
      isEnding: endingNamespaces(tenants),
      turns,
    }),
});

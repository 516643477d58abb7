import { wakeOfRevision, wakeOfRun } from '../definition/wakes.ts';
import { executionInformer, revisionKey } from '../execution/informer.ts';
import { type Wakes, defineModule } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { tenantInformer, endingNamespaces } from '../tenants.ts';
import { revisionInformer, workflowInformer, workflowKey } from './informers.ts';
import { createWorkflowReconcile } from './reconcile.ts';

/** The caches that workflows are judged from. */
const workflowInformers = {
  workflows: workflowInformer,
  revisions: revisionInformer,
  executions: executionInformer,
  tenants: tenantInformer,
} as const;

/**
 * A revision without its workflow is deleted when no execution runs it any more: checked when it is seen and when a
 * run ends.
 */
const workflowWakes: Wakes<typeof workflowInformers> = {
  workflows: wakeItself,
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
  reconcile: ({ kube, clock, turns, informers: { workflows, revisions, executions, tenants } }) =>
    createWorkflowReconcile({
      kube,
      clock,
      workflows: workflows.cache,
      revisions: revisions.cache,
      executions: executions.cache,
      wholeWorkflow: workflows.whole,
      wholeRevision: revisions.whole,
      isEnding: endingNamespaces(tenants),
      turns,
    }),
});

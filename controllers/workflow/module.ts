import { defineModule } from '../runtime/module.ts';
import { endingNamespaces } from '../tenants.ts';
import { createWorkflowReconcile } from './reconcile.ts';
import { workflowInformers, workflowWakes } from './wakes.ts';

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

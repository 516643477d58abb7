import { wakeOfRevision, wakeOfRun } from '../definition/wakes.ts';
import { executionInformer, revisionKey } from '../execution/informer.ts';
import type { Wakes } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { tenantInformer } from '../tenants.ts';
import { revisionInformer, workflowInformer, workflowKey } from './informers.ts';

/** The caches that workflows are judged from. */
export const workflowInformers = {
  workflows: workflowInformer,
  revisions: revisionInformer,
  executions: executionInformer,
  tenants: tenantInformer,
} as const;

/**
 * A revision without its workflow is deleted when no execution runs it any more: checked when it is seen and when a
 * run ends.
 */
export const workflowWakes: Wakes<typeof workflowInformers> = {
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

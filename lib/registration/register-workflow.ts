import type { Workflow } from '../../crds/schema/workflow.ts';
import { AppError } from '../errors.ts';
import { workflows } from '../kinds.ts';
import { isAlreadyExists, isConflict, isNotFound, type KubeClient } from '../kube/index.ts';
import { planRegistration, type Registration } from './plan-registration.ts';
import { specOfVersion } from './stored-version.ts';

/** Somebody else may write at the same time; then it is looked at anew. */
const attempts = 5;

/**
 * Creates or updates a workflow, whichever it takes. Of concurrent registrations of one version with different content
 * exactly one is written; the others get a conflict.
 */
export async function registerWorkflow(
  kube: Pick<KubeClient, 'get' | 'create' | 'replace'>,
  workflow: Workflow,
  { namespace, force }: { readonly namespace: string; readonly force: boolean },
): Promise<Registration> {
  for (let attempt = 1; ; attempt++) {
    const existing = await orNothing(kube.get(workflows, { namespace, name: workflow.metadata.name }));
    const stored = existing && (await orNothing(specOfVersion(kube, existing, workflow.spec.version)));
    const plan = planRegistration(workflow, namespace, { existing, stored, force });
    try {
      if (plan.kind === 'created') return { ...plan, object: await kube.create(workflows, plan.object) };
      if (plan.kind === 'updated') return { ...plan, object: await kube.replace(workflows, plan.object) };
      return plan;
    } catch (error) {
      if (!(isConflict(error) || isAlreadyExists(error)) || attempt === attempts) throw error;
    }
  }
}

async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNotFound(error) || (error instanceof AppError && error.code === 'not_found')) return undefined;
    throw error;
  }
}

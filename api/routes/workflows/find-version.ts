import type { Workflow, WorkflowSpec } from '../../../crds/schema/workflow.ts';
import { AppError } from '../../../lib/errors.ts';
import { type RevisionReader, specOfVersion } from '../../../lib/registration/index.ts';
import { notFound, unknownVersion } from '../not-found.ts';

/** The content of a version, by default of the newest. @throws HttpError 404 that lists the versions there are. */
export async function findVersion(
  kube: RevisionReader,
  workflow: Workflow,
  version: string | undefined,
): Promise<WorkflowSpec> {
  try {
    return await specOfVersion(kube, workflow, version);
  } catch (error) {
    if (!(error instanceof AppError && error.reason === 'VersionNotFound')) throw error;
    throw notFound(unknownVersion, { message: error.message, cause: error });
  }
}

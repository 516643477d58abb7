import { hasReason } from '../../../lib/errors.ts';
import { type RevisionReader, specOfVersion, type Versioned } from '../../../lib/registration/index.ts';
import { notFound, unknownVersion } from '../not-found.ts';

/** The content of a version, by default of the newest. @throws HttpError 404 that lists the versions there are. */
export async function findVersion<V extends Versioned>(
  kube: RevisionReader,
  definition: V,
  version: string | undefined,
): Promise<V['spec']> {
  try {
    return await specOfVersion(kube, definition, version);
  } catch (error) {
    if (!hasReason(error, 'VersionNotFound')) throw error;
    throw notFound(unknownVersion, { message: error.message, cause: error });
  }
}

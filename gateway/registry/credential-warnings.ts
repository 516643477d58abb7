import { lineOfProblem, type Place, warningAt } from '../../crds/problem.ts';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import { hasCredentials } from '../../lib/api-spec/index.ts';
import type { FindCredentialProblem } from '../../lib/credentials/index.ts';

/** Says at its place in a registration that calls would lack the credential. A Secret that cannot be read this time says nothing. */
export async function credentialWarnings(
  findProblem: FindCredentialProblem,
  apiSpec: Pick<ApiSpec, 'metadata' | 'spec'>,
  place: Place,
): Promise<readonly string[]> {
  if (!hasCredentials(apiSpec.spec)) return [];
  const problem = await findProblem(apiSpec).catch(() => undefined);
  return problem === undefined ? [] : [lineOfProblem(warningAt(place, 'credential_missing', problem))];
}

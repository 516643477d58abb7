import { errorAt, type Problem } from '../../crds/problem.ts';
import type { ApiSpecSpec } from '../../crds/schema/api-spec.ts';

/** Headers that name the target of a request and the end of its body: a secret in one is sent elsewhere, or fails each call. */
const framing =
  /^(?:host|connection|keep-alive|proxy-connection|content-.*|transfer-encoding|upgrade|te|trailer|expect)$/i;

/** A credential has a header of its own. Paths begin with `spec`. */
export function credentialProblems({ credentials }: Pick<ApiSpecSpec, 'credentials'>): Problem[] {
  const header = credentials !== undefined && 'header' in credentials ? credentials.header : undefined;
  if (header === undefined || !framing.test(header)) return [];
  const message = 'is a header of the connection or of the body; give another one, as X-Api-Key';
  return [errorAt(['spec', 'credentials', 'header'], 'taken', message)];
}

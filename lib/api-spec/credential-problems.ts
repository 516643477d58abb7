import { errorAt, type Problem } from '../../crds/problem.ts';
import type { ApiSpecSpec } from '../../crds/schema/api-spec.ts';
import type { OpenApiIndex } from '../openapi-document/index.ts';

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

const homeless =
  'are for the server of the document, which names none for all operations, and those of its paths are of several ' +
  'origins; put the server that they are for first in `servers` of the document, or set server_url';

/** Credentials are sent to one origin. Paths begin with `spec`. */
export function credentialTargetProblems(spec: Pick<ApiSpecSpec, 'credentials'>, index: OpenApiIndex): Problem[] {
  const isNeeded = hasCredentials(spec) && index.operations.size > 0;
  return isNeeded && index.home === undefined ? [errorAt(['spec', 'credentials'], 'server', homeless)] : [];
}

export const hasCredentials = ({ credentials }: Pick<ApiSpecSpec, 'credentials'>): boolean =>
  credentials !== undefined && credentials.kind !== 'none';

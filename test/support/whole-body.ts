import type { BodySource } from '../../lib/http/read-body.ts';
import type { InFlightRequest } from '../../lib/http/in-flight.ts';

/** A body of a request that came as a whole; false where it was refused. */
export function holdWhole(request: Pick<InFlightRequest, 'beginBody'>, bytes: number): boolean {
  const body = request.beginBody(() => undefined);
  if (!body.take(bytes)) return false;
  body.complete();
  return true;
}

/** Memory without an end for a body. */
export const endlessRoom: Pick<BodySource, 'begin'> = {
  begin: () => ({ take: () => true, complete: () => undefined }),
};

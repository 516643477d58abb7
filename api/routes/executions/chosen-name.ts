import { reservedExecutionNamePattern } from '../../../crds/reserved-names.ts';
import { HttpError } from '../../../lib/http/index.ts';

const reserved = new RegExp(reservedExecutionNamePattern);

/**
 * Throws 400 for a name that the API itself derives from an Idempotency-Key or a stimulus, and for one in the form of
 * an id. Admission trusts the API, so the API refuses such a name from a caller. The name would block the start or the
 * stimulus that it belongs to, or pass for the execution of that id.
 */
export function assertChosenName(name: string | undefined): void {
  if (name === undefined || !reserved.test(name)) return;
  const message = `has the form of an id or of a name that the API gives; choose another`;
  throw new HttpError({ code: 'invalid', details: [{ path: 'body.name', message }] });
}

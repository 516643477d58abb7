import { readyOf } from '../../crds/ready.ts';
import { AppError } from '../../lib/errors.ts';

const foundOut: readonly string[] = ['NotATenant', 'NameTaken'];

/**
 * Keeps a call from an object that the controllers refuse; before they have judged it, it is called. `lookedUp` are reasons
 * that the call itself finds out, from what is there now. Two are such always: the gateway sees objects of tenants alone, and
 * finds by itself which object has a name.
 * @throws AppError `invalid`, Validation, with the text of the condition.
 */
export function requireAccepted(what: string, object: Judged, lookedUp: readonly string[] = []) {
  const refused = notReadyOf(object, lookedUp);
  if (refused !== undefined) throw new AppError('invalid', `${what} cannot run: ${refused}`, { reason: 'Validation' });
}

export type Judged = Parameters<typeof readyOf>[0];

/** Why the controllers refuse an object; undefined where they accept it, or have not judged it yet. */
export function notReadyOf(object: Judged, lookedUp: readonly string[] = []): string | undefined {
  const ready = readyOf(object);
  if (ready?.status !== 'False' || foundOut.includes(ready.reason) || lookedUp.includes(ready.reason)) return undefined;
  return `${ready.reason}: ${ready.message}`;
}

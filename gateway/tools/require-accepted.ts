import type { CliToolReason, ToolWorkflowReason } from '../../crds/conditions.ts';
import { readyOf } from '../../crds/ready.ts';
import { AppError } from '../../lib/errors.ts';

/** Reasons that end with what another object becomes. */
const ofOthers: readonly string[] = ['ApiSpecNotFound', 'ApiSpecNotReady', 'WorkflowPending'] satisfies (
  | ToolWorkflowReason
  | CliToolReason
)[];
/** One that is not ready for longer than this is broken. */
const settlingMs = 30_000;

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

/** Whether an object is not ready since a moment ago, for what another object may soon be. */
export function isSettling(object: Judged, now: number): boolean {
  const ready = readyOf(object);
  if (ready?.status !== 'False' || !ofOthers.includes(ready.reason)) return false;
  return now - Date.parse(ready.lastTransitionTime) < settlingMs;
}

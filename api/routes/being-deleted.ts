import { Type } from 'typebox';
import { isBeingDeleted, isHeldByOthers } from '../../lib/being-deleted.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import type { ErrorContract } from '../../lib/http/contract.ts';
import type { KubeObject } from '../../lib/kube/index.ts';

/** A start of what is being deleted. */
export const beingDeleted: ErrorContract = {
  status: 409,
  error: 'conflict',
  when: 'It is being deleted: a finalizer still holds the object, and nothing starts it any more.',
};

/** `noun` begins the sentence, as in `agent reviewer`. @throws HttpError 409 */
export function refuseBeingDeleted(noun: string, object: Pick<KubeObject, 'metadata'>): void {
  if (!isBeingDeleted(object)) return;
  const message = `${noun} is being deleted: a finalizer still holds the object, and nothing starts it any more`;
  throw new HttpError({ code: 'conflict', message });
}

/** Field of a view and of the answer to a deletion; absent where no deletion was asked for. */
export const deletingField = Type.Optional(
  Type.Literal(true, { description: 'It was deleted, and a finalizer still holds its object.' }),
);

/** That field of an object. */
export const deletingOf = (object: Pick<KubeObject, 'metadata'>): { deleting?: true } =>
  isBeingDeleted(object) ? { deleting: true } : {};

/** The same behind our own deletion: what holds archived executions is ours, and lets go of them by itself. */
export const stillHeld = (object: Pick<KubeObject, 'metadata'>): { deleting?: true } =>
  isHeldByOthers(object) ? { deleting: true } : {};

import { AppError } from '../../lib/errors.ts';
import type { KubeObject } from '../../lib/kube/index.ts';

/** Refuses an object that got past the API server without a spec. */
export function withSpec<T extends KubeObject & { readonly spec: object }>(object: T): T {
  if (typeof object.spec !== 'object' || object.spec === null) throw new AppError('invalid', 'the object has no spec');
  return object;
}

import type { KubeObject } from '../kube/index.ts';
import type { Informer } from './informer.ts';

/**
 * Reads objects in full in turns: large ones of one namespace one after another, for any reader, since each read costs the API
 * server and this process the whole object. Those who keep one for long also reserve memory for it.
 */
export const readInTurn =
  <T extends KubeObject, I extends string>({ use }: Pick<Informer<T, I>, 'use'>) =>
  (object: T): Promise<T | undefined> =>
    use(object, async (whole) => whole);

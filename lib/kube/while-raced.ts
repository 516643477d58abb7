import { tryAgain } from '../retry.ts';
import { isConflict, isInvalid } from './kube-error.ts';

/**
 * Reads an object and writes what follows from it, again while others write in between. A failed `test` of a patch answers
 * 422, as does a value that the server refuses. @throws KubeError the last refusal, where `attempts` had one each.
 */
export const whileRaced = <T>(attempts: number, readAndWrite: () => Promise<T>): Promise<T> =>
  tryAgain(attempts, isRaced, readAndWrite);

const isRaced = (error: unknown): boolean => isConflict(error) || isInvalid(error);

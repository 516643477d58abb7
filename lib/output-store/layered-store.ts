import { AppError } from '../errors.ts';
import type { OutputStore } from './output-store.ts';

/**
 * A store that reads missing blobs from a second one: outputs that were stored before an operator
 * chose another store stay readable.
 */
export function createLayeredStore(store: OutputStore, earlier: Pick<OutputStore, 'get' | 'adopt'>): OutputStore {
  return {
    ...store,
    adopt: async (owner, blobs) => earlier.adopt(owner, await store.adopt(owner, blobs)),
    async get(namespace, locator) {
      try {
        return await store.get(namespace, locator);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
        return earlier.get(namespace, locator);
      }
    },
  };
}

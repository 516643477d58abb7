import { isForbidden } from '../../../lib/kube/kube-error.ts';

/** A user of one tenant may not be allowed to read the global namespace: then nothing is there for them. */
export async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { manifestWorker } from '../../lib/manifest/index.ts';

/**
 * Entry point of the thread that reads documents: beside the bundle in the image, and in its folder where the sources
 * are.
 */
export function workerUrl(): URL {
  const file = join(import.meta.dirname, manifestWorker.bundled);
  return existsSync(file) ? pathToFileURL(file) : new URL('../../lib/manifest/manifest-worker.ts', import.meta.url);
}

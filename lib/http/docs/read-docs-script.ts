import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { docsScript } from './docs-script.ts';

/** Beside the bundle in `folder`, as in the image, and in its package where the sources are. */
export function readDocsScript(folder: string): Promise<string> {
  const bundled = join(folder, docsScript.bundled);
  return readFile(existsSync(bundled) ? bundled : createRequire(import.meta.url).resolve(docsScript.source), 'utf8');
}

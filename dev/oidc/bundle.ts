/** Writes the provider as one packed module. usage: node dev/oidc/bundle.ts FILE */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: node dev/oidc/bundle.ts FILE');
const cwd = resolve(import.meta.dirname, '../..');
await using build = await rolldown({ cwd, input: 'dev/oidc/main.ts', platform: 'node', logLevel: 'silent' });
// Not minified: oidc-provider tells its models by the names of their classes.
const { output } = await build.generate({ format: 'esm', codeSplitting: false });
await writeFile(file, gzipSync(output[0].code));

import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** Entry point and output of a bundle. Paths are relative to `root`. */
interface BundleOptions {
  readonly root: string;
  /** File name without `.js` → entry module. */
  readonly programs: Readonly<Record<string, string>>;
  readonly out: string;
}

export interface BundledFile {
  readonly name: string;
  readonly bytes: number;
}

/** No comments and no blanks. Names are kept, so a stack trace names the functions of the source. */
const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } } as const;

/**
 * Writes one ES module a program, with every dependency inside, and the chunks they share or load on demand. The S3
 * client is a chunk of its own, so a process that stores nothing in S3 never reads it. Answers the files written, by
 * name.
 */
export async function bundle(options: BundleOptions): Promise<BundledFile[]> {
  await using build = await rolldown(inputOf(options));
  const { output } = await build.write({
    dir: options.out,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify,
    cleanDir: true,
  });
  return output
    .map((file) => ({ name: file.fileName, bytes: Buffer.byteLength(file.type === 'chunk' ? file.code : file.source) }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Writes one program as a single file. A single executable of Node runs no ES module. */
export async function bundleWhole(options: BundleOptions, format: 'cjs' | 'esm'): Promise<void> {
  await using build = await rolldown(inputOf(options));
  await build.write({ dir: options.out, format, codeSplitting: false, entryFileNames: '[name].js', minify });
}

function inputOf({ root, programs }: BundleOptions) {
  const input = Object.fromEntries(Object.entries(programs).map(([name, entry]) => [name, join(root, entry)]));
  return { cwd: root, input, platform: 'node' as const };
}

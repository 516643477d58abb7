import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** What to bundle and where to. Paths are relative to `root`. */
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

/**
 * Writes one ES module a program, with every dependency inside, and the chunks they share or load on demand
 * (the S3 client is a chunk of its own, so a process that stores nothing in S3 never reads it).
 * Names are kept, so a stack trace names the functions of the source. Answers the files written, by name.
 */
export async function bundle(options: BundleOptions): Promise<BundledFile[]> {
  const input = Object.fromEntries(
    Object.entries(options.programs).map(([name, entry]) => [name, join(options.root, entry)]),
  );
  await using build = await rolldown({ cwd: options.root, input, platform: 'node' });
  const { output } = await build.write({
    dir: options.out,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    cleanDir: true,
  });
  return output
    .map((file) => ({ name: file.fileName, bytes: Buffer.byteLength(file.type === 'chunk' ? file.code : file.source) }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative, resolve } from 'node:path';
import process from 'node:process';

const root = resolve(import.meta.dirname, '../..');
const programs = join(root, 'node_modules/.bin');

/** Ours, and the standard services beside it, whose descriptions come with packages of the gRPC project. */
const inputs = [
  { folder: 'proto', paths: ['proto/windlass'] },
  { folder: 'node_modules/grpc-health-check/proto', paths: [] },
  {
    folder: 'node_modules/@grpc/reflection/build/proto',
    paths: ['node_modules/@grpc/reflection/build/proto/grpc/reflection/v1'],
  },
];

const descriptorsHeader = `// Generated from the .proto files by "npm run generate". Change the sources there, not this file.

/** All files as one google.protobuf.FileDescriptorSet in base64, for server reflection. */
export const descriptorSet =
  '`;

/**
 * The generator sets each member of a map as `map[key] = value`, which loses one that is called `__proto__`, or has it replace the
 * prototype. A sender chooses these names.
 */
export const withAnyKey = (text: string): string =>
  text.replaceAll(
    /^( *)([\w.]+)\[(key|entry\d+\.key)\] = (.+);$/gm,
    (...[, indent = '', map = '', key = '', value = '']: string[]) =>
      [
        `if (${key} === "__proto__") {`,
        `  const own = { value: ${value}, writable: true, enumerable: true, configurable: true };`,
        `  globalThis.Object.defineProperty(${map}, ${key}, own);`,
        '} else {',
        `  ${map}[${key}] = ${value};`,
        '}',
      ]
        .map((line) => indent + line)
        .join('\n'),
  );

/**
 * TypeScript of every message and service, by its path from the root of the repository. Sources that break a rule of
 * `buf lint` are not generated from.
 * @throws with what buf says.
 */
export function protoFiles(): ReadonlyMap<string, string> {
  const out = mkdtempSync(join(tmpdir(), 'windlass-proto-'));
  try {
    buf(['lint', 'proto']);
    const sets = inputs.map(({ folder, paths }, index) => {
      const only = paths.flatMap((path) => ['--path', path]);
      const set = join(out, `${index}.binpb`);
      buf(['generate', folder, '--template', 'proto/buf.gen.yaml', '--output', join(out, 'ts'), ...only]);
      buf(['build', folder, '--as-file-descriptor-set', '--exclude-source-info', '--output', set, ...only]);
      return readFileSync(set);
    });
    // Serialised lists of files, put one after the other, are the list of all.
    const descriptors = `${descriptorsHeader}${Buffer.concat(sets).toString('base64')}';\n`;
    return new Map([...filesIn(join(out, 'ts')), ['proto/generated/descriptors.ts', descriptors]]);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function buf(args: readonly string[]): void {
  const env = { ...process.env, PATH: [programs, process.env['PATH']].join(delimiter) };
  execFileSync(join(programs, 'buf'), args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
}

function filesIn(folder: string): [string, string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map(
      (path) =>
        [join('proto/generated', relative(folder, path)), withAnyKey(readFileSync(path, 'utf8'))] as [string, string],
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

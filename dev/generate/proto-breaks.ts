import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { descriptorSet } from '../../proto/generated/descriptors.ts';

const buf = resolve(import.meta.dirname, '../../node_modules/.bin/buf');

/**
 * Breaking changes of the .proto files of a folder since the last generation, by the rules of `proto/buf.yaml`: one
 * line for each break; empty where older clients still work.
 */
export function protoBreaks(folder: string): string {
  const work = mkdtempSync(join(tmpdir(), 'windlass-proto-'));
  try {
    const before = join(work, 'before.binpb');
    writeFileSync(before, ownDescriptors());
    const options = { cwd: folder, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(buf, ['breaking', '.', '--against', before], options);
    return status === 0 ? '' : `${stdout}${stderr}`;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Without the standard services, which come with packages. */
function ownDescriptors(): Uint8Array {
  const set = fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSet, 'base64'));
  const file = set.file.filter(({ name }) => /^(windlass|google)\//.test(name));
  return toBinary(FileDescriptorSetSchema, { ...set, file });
}

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { protoBreaks } from './proto-breaks.ts';

const source = resolve(import.meta.dirname, '../../proto');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'proto-'));
  cpSync(source, folder, { recursive: true, filter: (path) => !path.includes('generated') });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function changed(from: string, to: string): string {
  const file = join(folder, 'windlass/node/v1/node.proto');
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(from);
  writeFileSync(file, text.replace(from, to));
  return protoBreaks(folder);
}

describe('changes of the gRPC interfaces', () => {
  it('break nothing where nothing was changed', () => {
    expect(protoBreaks(folder)).toBe('');
  });

  it('break nothing by a field that is added', () => {
    expect(changed('  string os = 1;', '  string os = 1;\n  // New.\n  string libc = 11;')).toBe('');
  });

  it.each([
    ['another number', '  string os = 1;', '  string os = 9;', 'field "1" with name "os"'],
    ['another type', '  string os = 1;', '  bytes os = 1;', '"os"'],
    ['another name', '  string os = 1;', '  string system = 1;', '"system"'],
    ['a field that is gone', '  string os = 1;\n', '', 'field "1" with name "os"'],
    ['a value of an enumeration', '  NODE_ROLE_EDGE = 1;', '  NODE_ROLE_EDGE = 2;', 'enum "NodeRole"'],
    ['a method that streams no more', 'rpc ConnectEdge(stream EdgeEvent)', 'rpc ConnectEdge(EdgeEvent)', 'ConnectEdge'],
  ])('break clients by %s', (_what, from, to, problem) => {
    expect(changed(from, to)).toContain(problem);
  });
});

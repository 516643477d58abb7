import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { protoFiles } from './proto-files.ts';

const root = resolve(import.meta.dirname, '../..');

describe('files generated from proto/', () => {
  const files = protoFiles();

  it.each([...files])('%s is what the sources give', (path, text) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });

  it('have none beside them whose source is gone', () => {
    const stored = readdirSync(join(root, 'proto/generated'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
    expect(stored.toSorted()).toEqual([...files.keys()].toSorted());
  });
});

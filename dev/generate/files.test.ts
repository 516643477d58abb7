import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedFiles } from './files.ts';

const root = resolve(import.meta.dirname, '../..');

describe('generated files', () => {
  it.each([...generatedFiles()])('%s is what the sources give', (path, text) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });

  it('hold nothing beside: a file whose source is gone is deleted', () => {
    const stored = readdirSync(join(root, 'crds/generated'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
    const made = [...generatedFiles().keys()].filter((path) => path.startsWith('crds/generated/'));
    expect(stored.toSorted()).toEqual(made.toSorted());
  });

  it('are the same each time', () => {
    expect([...generatedFiles()]).toEqual([...generatedFiles()]);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EdgeCapabilities } from '../../proto/generated/windlass/node/v1/node.ts';
import { protoFiles } from './proto-files.ts';

const root = resolve(import.meta.dirname, '../..');

describe('files generated from proto/', () => {
  const files = protoFiles();

  it.each([...files])('%s is what the sources give', (path, text) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });

  it('EDGE-PROTO-10 have no map that loses a name its sender chose', () => {
    const customLabels = JSON.parse('{"a":"b","__proto__":"c"}') as Record<string, string>;
    const sent = EdgeCapabilities.encode(EdgeCapabilities.create({ customLabels })).finish();
    expect(Object.entries(EdgeCapabilities.decode(sent).customLabels)).toEqual([
      ['a', 'b'],
      ['__proto__', 'c'],
    ]);
    for (const text of files.values())
      expect(text).not.toMatch(/(?<!\} else \{\n)^ +[\w.]+\[(key|entry\d+\.key)\] = /m);
  });

  it('have none beside them whose source is gone', () => {
    const stored = readdirSync(join(root, 'proto/generated'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
    expect(stored.toSorted()).toEqual([...files.keys()].toSorted());
  });
});

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

const folder = join(import.meta.dirname, '../../examples');

interface Named {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
}

/** `manifest/` shows workflows of the folder above in their other form. */
const objects = globSync('**/*.yaml', { cwd: folder, exclude: ['manifest/**'] })
  .toSorted()
  .flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8'))
      .map((document) => document.toJS() as Named | null)
      .filter((object) => object?.kind !== undefined && object.metadata?.name !== undefined)
      .map((object) => ({ file, key: `${object?.kind} ${object?.metadata?.name}` })),
  );

describe('the examples', () => {
  it('give each object a name of its own, since the tour registers them in one namespace', () => {
    const files = Map.groupBy(objects, ({ key }) => key);
    const shared = [...files].filter(([, uses]) => new Set(uses.map(({ file }) => file)).size > 1);
    expect(objects.length).toBeGreaterThan(10);
    expect(shared.map(([key, uses]) => [key, ...uses.map(({ file }) => file)])).toEqual([]);
  });
});

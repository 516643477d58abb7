import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { group } from '../../crds/labels.ts';
import { kinds } from '../../crds/kinds.ts';

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');
const sorted = (names: readonly string[]): readonly string[] =>
  names.toSorted((one, other) => one.localeCompare(other));

describe('pages that name every kind', () => {
  it('docs/concepts.md has each kind with its short name', () => {
    const rows = [...read('docs/concepts.md').matchAll(/^\| `([A-Z]\w+)` \| `([a-z]+)` \|/gm)];
    expect(sorted(rows.map(([, kind = '', short = '']) => `${kind} ${short}`))).toEqual(
      sorted(kinds.map(({ kind, shortNames }) => `${kind} ${shortNames.join(' ')}`)),
    );
  });

  it("the chart's README deletes the kinds by their group when it uninstalls, and the first pages link to it", () => {
    const [, pattern = ''] =
      /get crd -o name \| grep '([^']+)' \| xargs kubectl delete/.exec(read('charts/windlass/README.md')) ?? [];
    expect(pattern).not.toBe('');
    const names = kinds.map(({ plural }) => `customresourcedefinition.apiextensions.k8s.io/${plural}.${group}`);
    expect(names.filter((name) => !new RegExp(pattern).test(name))).toEqual([]);
    expect('customresourcedefinition.apiextensions.k8s.io/nodes.windlass-dev').not.toMatch(new RegExp(pattern));
    for (const page of ['README.md', 'docs/operating.md'])
      expect(read(page)).toContain('charts/windlass/README.md#upgrade-and-uninstall');
  });
});

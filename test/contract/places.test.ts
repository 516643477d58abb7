import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kinds } from '../../crds/kinds.ts';
import * as resources from '../../lib/kinds.ts';
import { defaultQuota } from '../../lib/tenant/tenant-objects.ts';

const root = resolve(import.meta.dirname, '../..');
const roles = readFileSync(join(root, 'charts/windlass/templates/cluster/roles.yaml'), 'utf8');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

/** docs/architecture.md names these places of a new kind. */
describe.each(kinds.map(({ kind, plural }) => [kind, plural] as const))('the kind %s', (kind, plural) => {
  it('is a resource that clients know', () => {
    expect(Object.values(resources)).toContainEqual(expect.objectContaining({ kind, plural }));
  });

  it('has a count in the quota of a tenant', () => {
    expect(defaultQuota).toHaveProperty([`count/${plural}.windlass.dev`]);
  });

  it('has rights in the roles of the chart', () => {
    expect(roles).toMatch(new RegExp(`\\b${plural}\\b`));
  });
});

describe('the page of the architecture', () => {
  it('names each folder of lib/, and none beside them', () => {
    const start = page.indexOf('## Folders of `lib/`');
    const table = page.slice(start, page.indexOf('\n## ', start + 1));
    const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Noun'));
    const named = rows.flatMap((row) => [...row.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name));
    const folders = readdirSync(join(root, 'lib'), { withFileTypes: true }).filter((entry) => entry.isDirectory());

    expect(new Set(named)).toEqual(new Set(folders.map(({ name }) => name)));
  });
});

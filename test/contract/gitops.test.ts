import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as conditions from '../../crds/conditions.ts';
import { customResourceDefinition } from '../../crds/custom-resource-definition.ts';
import { kinds } from '../../crds/kinds.ts';

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');
const page = read('docs/gitops.md');
const [, toSync = ''] = /^## Which kinds to sync\n(.*?)^## /ms.exec(page) ?? [];
const rows = [...toSync.matchAll(/^\| (`.*?) \| (yes|only|no)\b/gm)].map(([, names = '', answer]) => ({
  names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  answer,
}));
const [, lua = ''] = /health\.lua: \|\n(.*?)^```/ms.exec(page) ?? [];

const names = (pattern: RegExp): string[] => [...lua.matchAll(pattern)].map(([, name = '']) => name);

describe('the page for users of GitOps', () => {
  it('says of each kind whether it is synced', () => {
    const said = rows.flatMap((row) => row.names);
    expect(said.toSorted()).toEqual(kinds.map(({ kind }) => kind).toSorted());
  });

  it('treats as healthy at once exactly those kinds without conditions that may be in a repository', () => {
    const hasConditions = (kind: string): boolean =>
      JSON.stringify(kinds.find((one) => one.kind === kind)?.status).includes('"conditions"');
    const synced = rows.filter(({ answer }) => answer !== 'no').flatMap((row) => row.names);
    expect(names(/obj\.kind == "(\w+)"/g).toSorted()).toEqual(synced.filter((kind) => !hasConditions(kind)).toSorted());
  });

  it('names reasons that the controllers give', () => {
    const reasons = Object.values(conditions).flatMap((one) => Object.keys(one));
    const named = names(/(\w+) = true/g);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((reason) => !reasons.includes(reason))).toEqual([]);
  });

  it('names values of the chart', () => {
    const values: unknown = parse(read('charts/windlass/values.yaml'));
    const valueAt = (path: string): unknown =>
      path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], values);
    const [, table = ''] = /^## The chart\n(.*)/ms.exec(page) ?? [];
    const paths = [...table.matchAll(/`([a-zA-Z]+(?:\.[a-zA-Z]+)+)`/g)].map(([, path = '']) => path);
    const own = paths.filter((path) => !path.endsWith('.pem'));
    expect(own.length).toBeGreaterThan(4);
    expect(own.filter((path) => valueAt(path) === undefined)).toEqual([]);
  });

  it('is right that no schema default changes a spec', () => {
    const schemas = kinds.map((kind) => JSON.stringify(customResourceDefinition(kind)));
    expect(schemas.filter((schema) => schema.includes('"default":'))).toEqual([]);
  });
});

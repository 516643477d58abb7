import { serialize } from 'node:v8';
import { afterAll, describe, expect, it } from 'vitest';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import { createApiDocuments } from '../../lib/api-spec/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createOpenApiReader } from '../../lib/manifest/index.ts';
import {
  indexBytes,
  openApiLimits,
  type OpenApiReading,
  packReading,
  readOpenApi,
} from '../../lib/openapi-document/index.ts';

const workerUrl = new URL('../../lib/manifest/manifest-worker.ts', import.meta.url);
const reader = createOpenApiReader({ clock: systemClock, workerUrl });
afterAll(() => reader.close());

/** V8 keeps two bytes for each character of a text with one of these. */
const wide = 'ā';
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

interface Shape {
  readonly paths: number;
  readonly idLength: number;
  readonly pathLength: number;
  readonly serverOf?: (operation: number) => object;
}

function documentOf({ paths, idLength, pathLength, serverOf = () => ({}) }: Shape): string {
  const item = (path: number) =>
    methods.map((method, at) => {
      const operation = path * methods.length + at;
      return [method, { operationId: `${operation}${wide}`.padEnd(idLength, 'i'), ...serverOf(operation) }];
    });
  const entries = Array.from({ length: paths }, (_, path) => [
    `/${path}${wide}`.padEnd(pathLength, 'p'),
    Object.fromEntries(item(path)),
  ]);
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'x', version: '1' },
    servers: [{ url: `https://example.com/${wide.repeat(2_000)}` }],
    paths: Object.fromEntries(entries),
  });
}

/** The largest index that is taken has 5,000 operations; a document of it is within all bounds but those of the index. */
const most = openApiLimits.operations / methods.length;

describe('the attacker may register ApiSpecs of 5,000 operations in one namespace, and', () => {
  it('a server of 4 KB is in the message of the reading thread once, not with each operation', () => {
    const reading = readOpenApi(documentOf({ paths: most, idLength: 20, pathLength: 100 }));
    expect(reading.index?.operations.size).toBe(openApiLimits.operations);
    expect(serialize(reading).length).toBeGreaterThan(20_000_000);
    expect(serialize(packReading(reading)).length).toBeLessThan(1_000_000);
  });

  it('the reader gives the same operations, whose texts the index holds once', async () => {
    const text = documentOf({ paths: most, idLength: 20, pathLength: 100 });
    const { index } = await reader.readOpenApi(text, 'a');
    const wanted = readOpenApi(text).index;
    expect(index?.operations.size).toBe(openApiLimits.operations);
    const some = [...(index?.operations ?? [])].slice(-100);
    expect(some).toEqual([...(wanted?.operations ?? [])].slice(-100));
    expect(index && indexBytes(index)).toBeLessThan(1_500_000);
  });

  it.each<[string, Shape]>([
    ['ids of 256 characters', { paths: most, idLength: 256, pathLength: 20 }],
    ['paths of 2,048 characters', { paths: most, idLength: 8, pathLength: 2_048 }],
    [
      'servers of 2,048 characters that variables make of little text',
      {
        paths: most,
        idLength: 8,
        pathLength: 20,
        serverOf: (operation) => ({
          servers: [{ url: `https://a/${operation}{a}{a}{a}`, variables: { a: { default: wide.repeat(300) } } }],
        }),
      },
    ],
  ])('an index with %s is refused, with the reason', (_, shape) => {
    const { index, problems } = readOpenApi(documentOf(shape));
    expect(index).toBeUndefined();
    expect(problems[0]).toMatchObject({ path: 'paths', rule: 'too_large' });
    expect(problems[0]?.message).toContain(`take more than ${openApiLimits.indexBytes} bytes of memory; shorten them`);
  });

  it('problems with keys of megabytes take little', () => {
    const item = { get: { operationId: 7 } };
    const paths = Array.from({ length: 20 }, (_, at) => [`${at}${wide.repeat(100_000)}`, item]);
    const text = JSON.stringify({ openapi: '3.0.3', info: { title: 'x' }, paths: Object.fromEntries(paths) });
    const { problems } = readOpenApi(text);
    expect(problems).toHaveLength(20);
    expect(serialize(problems).length).toBeLessThan(200_000);
  });
});

describe('a tenant that registers document after document', () => {
  const aSpec = (namespace: string, name: string): ApiSpec => ({
    apiVersion: 'windlass.dev/v1',
    kind: 'ApiSpec',
    metadata: { name, namespace, uid: `${namespace}/${name}`, generation: 1 },
    spec: { document: name },
  });

  it('has its own oldest ones read again, and no document of another tenant', async () => {
    const large = readOpenApi(documentOf({ paths: most, idLength: 150, pathLength: 100 }));
    expect(large.problems).toEqual([]);
    const read: string[] = [];
    const readOpenApiOf = async (name: string, tenant: string): Promise<OpenApiReading> => {
      read.push(`${tenant}/${name}`);
      return large;
    };
    const documents = createApiDocuments({
      kube: undefined as never,
      reader: { readOpenApi: readOpenApiOf },
      whole: async (spec) => spec,
    });
    await documents.read(aSpec('victim', 'v'));
    const names = Array.from({ length: 20 }, (_, at) => `s${at}`);
    for (const name of names) await documents.read(aSpec('attacker', name));
    read.length = 0;
    await documents.read(aSpec('victim', 'v'));
    expect(read).toEqual([]);
    for (const name of names.toReversed()) await documents.read(aSpec('attacker', name));
    // The share of one tenant has room for two of these.
    expect(read).toHaveLength(names.length - 2);
  });
});

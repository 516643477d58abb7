import { describe, expect, it } from 'vitest';
import { openApiLimits } from './limits.ts';
import type { OpenApiReading } from './operation.ts';
import { readOpenApi } from './read-openapi.ts';

const order = { get: { operationId: 'getOrder' }, post: { operationId: 'createOrder' } };

const aDocument = (changes: object = {}): Record<string, unknown> => ({
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  servers: [{ url: 'https://api.example.com/v1/' }],
  paths: { '/orders': order },
  ...changes,
});

const read = (changes: object = {}, serverUrl?: string): OpenApiReading =>
  readOpenApi(JSON.stringify(aDocument(changes)), serverUrl);

const problems = ({ problems: found }: OpenApiReading): string[] =>
  found.map(({ path, message }) => `${path}: ${message}`);

const yaml = `openapi: 3.1.0
info: { title: Orders, version: "1" }
servers:
  - url: http://{host}:{port}/api
    variables: { host: { default: shop.example.com }, port: { default: "8080" } }
paths:
  /orders/{id}:
    get: { operationId: getOrder }
`;

describe('an OpenAPI document', () => {
  it.each(['3.0.0', '3.0.4', '3.1.0', '3.1.1'])(
    'GW-OP-21 of version %s gives its operations by their id',
    (openapi) => {
      const { index, problems: none } = read({ openapi });
      expect(none).toEqual([]);
      expect(index).toMatchObject({ openapi, title: 'Orders', server: 'https://api.example.com/v1' });
      expect([...(index?.operations ?? [])]).toEqual([
        ['getOrder', { method: 'GET', path: '/orders', server: 'https://api.example.com/v1' }],
        ['createOrder', { method: 'POST', path: '/orders', server: 'https://api.example.com/v1' }],
      ]);
    },
  );

  it('is read from YAML as well, with the variables of its server at their defaults', () => {
    expect(readOpenApi(yaml).index?.operations.get('getOrder')).toEqual({
      method: 'GET',
      path: '/orders/{id}',
      server: 'http://shop.example.com:8080/api',
    });
  });

  it.each(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'])(
    'has operations of method %s',
    (method) => {
      const { index } = read({ paths: { '/a': { [method]: { operationId: 'one' } } } });
      expect(index?.operations.get('one')?.method).toBe(method.toUpperCase());
    },
  );

  it('prefers the server of an operation to that of its path, and that to the first of the document', () => {
    const servers = (url: string) => ({ servers: [{ url }] });
    const { index } = read({
      paths: {
        '/a': {
          ...servers('https://path.example.com'),
          get: { operationId: 'byPath' },
          put: { operationId: 'own', ...servers('https://own.example.com') },
        },
        '/b': { get: { operationId: 'byRoot' } },
      },
    });
    const server = (id: string) => index?.operations.get(id)?.server;
    expect([server('own'), server('byPath'), server('byRoot')]).toEqual([
      'https://own.example.com',
      'https://path.example.com',
      'https://api.example.com/v1',
    ]);
  });

  const pathOf = (url: string, operationId: string) => ({ servers: [{ url }], get: { operationId } });
  it.each<[string, object, string | undefined, string | undefined]>([
    ['that of the document', {}, undefined, 'https://api.example.com'],
    ['that of the spec', {}, 'http://10.0.0.1:8080/base', 'http://10.0.0.1:8080'],
    ['none, in a document without operations and servers', { servers: [], paths: {} }, undefined, undefined],
    [
      'the only one of all paths, where the document has none',
      { servers: [], paths: { '/a': pathOf('https://a.example/x', 'a'), '/b': pathOf('https://a.example/y', 'b') } },
      undefined,
      'https://a.example',
    ],
    [
      'none, where the document has none and its paths have two',
      { servers: [], paths: { '/a': pathOf('https://a.example', 'a'), '/b': pathOf('https://a.example:8443', 'b') } },
      undefined,
      undefined,
    ],
    [
      'that of the document, whatever its paths have',
      { paths: { '/a': pathOf('https://a.example', 'a') } },
      undefined,
      'https://api.example.com',
    ],
  ])('names as origin of the credentials %s', (_what, changes, serverUrl, want) => {
    expect(read(changes, serverUrl).index?.home).toBe(want);
  });

  it('has one server for all operations where the spec names one', () => {
    const { index } = read({ servers: [{ url: '/relative' }] }, 'http://10.0.0.1:80/base/');
    expect(index?.operations.get('getOrder')?.server).toBe('http://10.0.0.1:80/base');
  });

  it('leaves out operations without an id, which no step can name', () => {
    expect(read({ paths: { '/a': { get: {} } } }).index?.operations.size).toBe(0);
  });

  it('follows a local reference to a path item', () => {
    const { index } = read({
      openapi: '3.1.0',
      paths: { '/a': { $ref: '#/components/pathItems/the~1one' } },
      components: { pathItems: { 'the/one': { get: { operationId: 'one' } } } },
    });
    expect(index?.operations.get('one')?.path).toBe('/a');
  });

  it('takes numbers that JavaScript cannot hold, as bounds of int64', () => {
    const text = JSON.stringify(aDocument()).replace('"paths"', '"x-max":9223372036854775807,"paths"');
    expect(readOpenApi(text).problems).toEqual([]);
    expect(readOpenApi(`${yaml}x-max: 9223372036854775807\n`).problems).toEqual([]);
  });
});

const relative = 'is relative, so that no host is known; set spec.server_url';

describe('an OpenAPI document is refused', () => {
  const cases: [title: string, changes: object, wanted: string][] = [
    [
      'of Swagger 2',
      { swagger: '2.0', openapi: undefined },
      'swagger: Swagger 2.0 is not read; convert the document to OpenAPI 3',
    ],
    ['of version 3.2', { openapi: '3.2.0' }, 'openapi: must be a text as 3.0.3 or 3.1.0: OpenAPI 3.0 and 3.1 are read'],
    [
      'of a version that is a number',
      { openapi: 3.1 },
      'openapi: must be a text as 3.0.3 or 3.1.0: OpenAPI 3.0 and 3.1 are read',
    ],
    ['without a title', { info: {} }, 'info.title: must be a text'],
    ['without paths', { paths: undefined }, 'paths: must be an object with the operations'],
    ['with a relative server', { servers: [{ url: '/v1' }] }, `servers[0].url: ${relative}`],
    [
      'with a server without a default',
      { servers: [{ url: 'https://{h}/' }] },
      'servers[0].url: names a variable that has no default; set spec.server_url',
    ],
    [
      'with a server of another scheme',
      { servers: [{ url: 'ftp://a.example' }] },
      'servers[0].url: must begin with http:// or https://',
    ],
    [
      'with a server that holds a password',
      { servers: [{ url: 'https://u:p@a.example' }] },
      'servers[0].url: must hold no user or password; spec.credentials is for those',
    ],
    [
      'with a server that holds a query',
      { servers: [{ url: 'https://a.example/?' }] },
      'servers[0].url: must hold no query and no fragment',
    ],
    ['without any server', { servers: undefined }, 'servers: the document names no server; set spec.server_url'],
    [
      'with an id that is no text',
      { paths: { '/a': { get: { operationId: 7 } } } },
      'paths["/a"].get.operationId: must be a text',
    ],
    ['with an operation that is no object', { paths: { '/a': { get: [] } } }, 'paths["/a"].get: must be an object'],
    [
      'with the same id twice',
      { paths: { '/a': order, '/b': { get: { operationId: 'getOrder' } } } },
      `paths["/b"].get.operationId: 'getOrder' is the operationId of GET /a already`,
    ],
    [
      'with a reference out of the document',
      { components: { schemas: { a: { $ref: 'http://evil.example/a.json' } } } },
      'components.schemas.a.$ref: must begin with #/: references out of the document are not followed; bundle the document',
    ],
    [
      'with a path item that refers to nothing',
      { paths: { '/a': { $ref: '#/nowhere' } } },
      'paths["/a"]: must be an object, or a $ref to one in the document',
    ],
    [
      'with path items that refer to each other for ever',
      { paths: { '/a': { $ref: '#/paths/~1a' } } },
      'paths["/a"]: must be an object, or a $ref to one in the document',
    ],
  ];
  it.each(cases)('%s', (_, changes, wanted) => {
    const found = read(changes);
    expect(found.index).toBeUndefined();
    expect(problems(found)).toEqual([wanted]);
  });

  it.each(['a', '/a b', '/a?b', '/a#b', '/a\\b', `/${'a'.repeat(openApiLimits.pathLength)}`])(
    'with the path %s',
    (path) => {
      expect(problems(read({ paths: { [path]: {} } }))[0]).toContain('a path must begin with /');
    },
  );

  it('with an address of spec.server_url that cannot be called', () => {
    expect(problems(read({}, 'file:///etc/passwd'))).toEqual(['spec.server_url: must begin with http:// or https://']);
  });

  it('where a key is repeated, in JSON and in YAML', () => {
    expect(problems(readOpenApi('{"openapi":"3.0.0","openapi":"3.0.1"}'))[0]).toContain('openapi is given twice');
    expect(problems(readOpenApi(`${yaml}openapi: 3.0.0\n`))[0]).toContain('line 9, column 1');
  });

  it.each([
    ['a list', '[]', 'must be the text of an OpenAPI document, an object in JSON or YAML'],
    ['no text at all', '', 'the text holds no document'],
    ['two documents', `${yaml}---\n${yaml}`, 'the text holds 2 YAML documents; send one'],
    ['JSON that ends early', '{"openapi":', 'is not valid JSON'],
  ])('that is %s', (_, text, wanted) => {
    expect(problems(readOpenApi(text))[0]).toContain(wanted);
  });

  it('where it is too deep, too long or has too many tokens', () => {
    const deep = `{"openapi":"3.0.0","x":${'['.repeat(64)}${']'.repeat(64)}}`;
    expect(problems(readOpenApi(deep))[0]).toContain('is nested deeper than 64 levels');
    const long = `{"x":"${'a'.repeat(openApiLimits.bytes - 8)}"}`;
    expect(problems(readOpenApi(long))[0]).toContain('openapi');
    expect(problems(readOpenApi(`${long} `))[0]).toContain(`at most ${openApiLimits.bytes} are taken`);
    expect(problems(readOpenApi(`a: [${'1,'.repeat(openApiLimits.yamlTokens / 2)}]`))[0]).toContain(
      'send the document as JSON',
    );
  });

  it('where its aliases make a small text large', () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`,
    );
    // Unfolded it has 387 million values, which no reader could hold.
    const bomb = `${yaml}l0: &l0 [a]\n${levels.join('\n')}\n`;
    expect(problems(readOpenApi(bomb))[0]).toContain('alias');
  });

  it('with one operation more than are taken', () => {
    const paths = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`/p${at}`, { get: { operationId: `o${at}` } }]));
    expect(read({ paths: paths(openApiLimits.operations) }).problems).toEqual([]);
    const { index, problems: found } = read({ paths: { ...paths(openApiLimits.operations + 1) } });
    expect([index, found.length > 0]).toEqual([undefined, true]);
  });
});

import { describe, expect, it } from 'vitest';
import type { ApiSpecSpec } from '../../crds/schema/api-spec.ts';
import { growthOf, proportional } from '../../test/support/processor-time.ts';
import { type OpenApiReading, packReading, readOpenApi, unpackReading } from '../openapi-document/index.ts';
import { documentWarnings } from './document-warnings.ts';
import { toolWarnings } from './tool-warnings.ts';
import { unsentOperations, unsentPart } from './unsent.ts';

const parameter = (where: string, name: string, required: unknown = true) => ({ in: where, name, required });

/** As the thread that reads documents sends it. */
function readingOf(paths: object): NonNullable<OpenApiReading['index']> {
  const parameters = { page: parameter('query', 'page') };
  const document = { openapi: '3.1.0', info: { title: 'Loans' }, servers: [{ url: 'https://a.example' }], paths };
  const reading = readOpenApi(JSON.stringify({ ...document, components: { parameters } }));
  const { index, problems } = unpackReading(packReading(reading));
  if (index === undefined) throw new Error(JSON.stringify(problems));
  return index;
}

const loan = { get: { operationId: 'readLoan' } };
const search = (...parameters: object[]) => ({ '/books': { get: { operationId: 'search', parameters } } });

function warningsOf(paths: object, operation_id: string, credentials?: ApiSpecSpec['credentials']): string[] {
  const step = { name: 'one', operation_id, body_template: '{}', on_error: 'AbortWorkflow' as const };
  const spec = credentials === undefined ? {} : { credentials };
  const found = toolWarnings({ steps: [step], input_schema: { type: 'object' } }, readingOf(paths), spec);
  return found.map(({ path, message, severity }) => {
    expect([path, severity]).toEqual(['steps[0].operation_id', 'warning']);
    return message;
  });
}

const needs = (what: string) =>
  `'search': needs the parameter ${what}, and a step sends none but those of credentials; name another operation`;

describe('warnings of a tool workflow with its API', () => {
  it('GW-WF-24 has one for a path with a parameter, which is sent as written', () => {
    expect(warningsOf({ '/loans/{loanId}': loan }, 'readLoan')).toEqual([
      "'readLoan': the path /loans/{loanId} is sent as written, because path parameters are not filled in; " +
        'name another operation, or write the value into the path of an ApiSpec of your own',
    ]);
  });

  it('GW-WF-25 has one for required parameters of the query, a header or a cookie', () => {
    const found = (...parameters: object[]) => warningsOf(search(...parameters), 'search');
    expect(found(parameter('query', 'q'))).toEqual([needs('query q')]);
    expect(found({ $ref: '#/components/parameters/page' })).toEqual([needs('query page')]);
    const many = ['a', 'b', 'c', 'd'].map((name) => parameter('header', name));
    expect(found(...many.slice(0, 2))).toEqual([needs('header a, header b')]);
    expect(found(...many)).toEqual([needs('header a, header b, header c')]);
    expect(found(parameter('cookie', 'id'))).toEqual([needs('cookie id')]);
  });

  it('reads the parameters of the path, which an operation may make optional', () => {
    const paths = (...parameters: object[]) => ({
      '/books': { parameters: [parameter('query', 'q')], get: { operationId: 'search', parameters } },
    });
    expect(warningsOf(paths(), 'search')).toEqual([needs('query q')]);
    expect(warningsOf(paths(parameter('query', 'q', false)), 'search')).toEqual([]);
  });

  it.each([
    [],
    [parameter('query', 'q', false)],
    [{ in: 'query', name: 'q' }],
    [parameter('query', 'q', 'true')],
    [parameter('header', 'Accept'), parameter('header', 'content-type'), parameter('header', 'Authorization')],
    ['broken', { $ref: '#/nothing' }, null] as unknown as object[],
  ])('has none for an operation that needs no parameter %#', (...parameters) =>
    expect(warningsOf(search(...parameters), 'search')).toEqual([]),
  );

  it('has none for a parameter that the credentials send', () => {
    const secret = { name: 's' };
    const [key, param] = [parameter('header', 'X-Api-Key'), parameter('query', 'key')];
    const inHeader = { kind: 'api_key_header', header: 'x-api-key', secret } as const;
    expect(warningsOf(search(key), 'search', inHeader)).toEqual([]);
    expect(warningsOf(search(key, param), 'search', inHeader)).toEqual([needs('query key')]);
    expect(warningsOf(search(param), 'search', { kind: 'api_key_query', param: 'key', secret })).toEqual([]);
  });
});

describe('warnings of a document', () => {
  const warned = (index: ReturnType<typeof readingOf>) => documentWarnings(index, unsentOperations(index, {}));

  it('GW-WF-24 GW-WF-25 count the operations that lack a parameter, and name the first', () => {
    const paths = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`/p${at}/{id}`, { get: { operationId: `o${at}` } }]),
      );
    const found = (count: number) => warned(readingOf({ ...paths(count), ...search() })).map(({ message }) => message);
    const text = 'parameters in the path, the query, a header or a cookie, which no tool workflow sends';
    expect(found(0)).toEqual([]);
    expect(found(1)).toEqual([`1 of 2 operations needs ${text}: o0`]);
    expect(found(3)).toEqual([`3 of 4 operations need ${text}: o0, o1, o2`]);
    expect(found(4)).toEqual([`4 of 5 operations need ${text}: o0, o1, o2, …`]);
  });
});

describe('the look for path parameters', () => {
  it('takes time in proportion to a path of braces that nothing closes', async () => {
    const look = (size: number) => unsentPart({ method: 'GET', path: '{'.repeat(size * 10), server: '' }, {});
    expect(await growthOf(250, look)).toBeLessThan(proportional);
  });
});

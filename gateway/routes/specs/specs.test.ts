import { describe, expect, it } from 'vitest';
import type { HttpError } from '../../../lib/http/http-error.ts';
import type { OpenApiIndex } from '../../../lib/openapi-document/index.ts';
import { createSpecRoutes, type SpecRoutesDeps } from './index.ts';

/** The answer to a registration with a credential in this header. */
async function registered(header: string, kind = 'api_key_header', index?: OpenApiIndex): Promise<unknown> {
  const deps = {
    newId: () => 'id',
    findProblem: async () => undefined,
    tenancy: { assertOwn: async () => undefined, namespaceOf: () => 'tenant-acme' },
    registry: { create: async (_caller: unknown, spec: object) => ({ ...spec, metadata: { uid: 'u-1' } }) },
    openApi: { readOpenApi: async () => ({ problems: [], ...(index && { index }) }) },
  } as unknown as SpecRoutesDeps;
  const route = createSpecRoutes(deps).find(({ contract }) => contract.operationId === 'registerApiSpec');
  const body = { name: 'shop', document: '{}', credentials: { kind, secret: { name: 'shop' }, header } };
  try {
    const reply = await route?.handle({ body, caller: { tenant: 'acme', isAdmin: false } } as never);
    return (reply as { value: unknown }).value;
  } catch (error) {
    return (error as HttpError).message;
  }
}

describe('credentials of an API', () => {
  it('are refused at their place where the document does not say which origin they are for', async () => {
    const operation = (server: string) => ({ method: 'GET', path: '/a', server });
    const operations = new Map([
      ['a', operation('https://a.example')],
      ['b', operation('https://b.example')],
    ]);
    const index = { openapi: '3.0.3', title: 'Two', operations };
    expect(await registered('X-Key', 'api_key_header', index)).toMatch(
      /^credentials are for the server of the document/,
    );
    const one = { ...index, home: 'https://a.example' };
    expect(await registered('X-Key', 'api_key_header', one)).toEqual({ id: 'u-1', name: 'shop' });
  });
});

describe('a document without an operation that a step can name', () => {
  it('is registered with a warning', async () => {
    const index = { openapi: '3.0.3', title: 'None', operations: new Map(), home: 'https://a.example' };
    expect(await registered('X-Key', 'api_key_header', index)).toEqual({
      id: 'u-1',
      name: 'shop',
      warnings: ['document: has no operation with an operationId, so no tool workflow can call it'],
    });
  });
});

describe('the header of the credential of an API', () => {
  it.each(['Host', 'content-length', 'Content-Type', 'Transfer-Encoding', 'Connection', 'TE', 'Trailer', 'Expect'])(
    'is refused at its place where the connection needs it: %s',
    async (header) => {
      for (const kind of ['api_key_header', 'static_header'])
        expect(await registered(header, kind)).toMatch(/^credentials\.header is a header of the connection/);
    },
  );

  it.each(['X-Api-Key', 'Authorization', 'X-Host', 'Cookie'])('may be %s', async (header) => {
    expect(await registered(header)).toEqual({ id: 'u-1', name: 'shop' });
  });
});

import { describe, expect, it } from 'vitest';
import { httpRequest } from './http-request.ts';
import type { Operation, OperationRequest } from './operation.ts';

const operation: Operation = {
  method: 'POST',
  path: '/v1/things/{thing}/parts/{part}',
  bearer: true,
  query: ['full', 'limit', 'kind'],
  headers: { idempotencyKey: 'idempotency-key' },
  mediaType: 'application/json',
  reply: 'json',
};
const context = { server: 'https://w.test/base', headers: { 'user-agent': 'u/1' }, token: 't', tenant: undefined };
const made = (request: OperationRequest, changes: Partial<Operation> = {}): Request =>
  httpRequest({ ...operation, ...changes }, { thing: 'a', part: 'b', ...request }, context);

describe('the request of a call', () => {
  it('has parameters at their places', async () => {
    const request = made({
      thing: 'a/b ü',
      full: true,
      limit: 0,
      kind: ['x', 'y'],
      idempotencyKey: 'k',
      body: { n: 1 },
    });
    expect(request.url).toBe('https://w.test/base/v1/things/a%2Fb%20%C3%BC/parts/b?full=true&limit=0&kind=x&kind=y');
    expect(request.method).toBe('POST');
    expect(Object.fromEntries(request.headers)).toEqual({
      accept: 'application/json',
      authorization: 'Bearer t',
      'content-type': 'application/json',
      'idempotency-key': 'k',
      'user-agent': 'u/1',
    });
    expect(await request.json()).toEqual({ n: 1 });
  });

  it('leaves out what is not given', () => {
    const request = made({ full: undefined });
    expect(request.url).toBe('https://w.test/base/v1/things/a/parts/b');
    expect(request.headers.has('content-type')).toBe(false);
    expect(request.body).toBeNull();
  });

  it('sends text and bytes as they are', async () => {
    const request = made({ body: 'kind: Workflow\n' }, { mediaType: 'application/yaml' });
    expect(request.headers.get('content-type')).toBe('application/yaml');
    expect(await request.text()).toBe('kind: Workflow\n');
    const raw = made({ body: new Uint8Array([0, 255]) }, { mediaType: 'application/octet-stream' });
    expect(new Uint8Array(await raw.arrayBuffer())).toEqual(new Uint8Array([0, 255]));
  });

  it('shows no token to an operation that is for everybody', () => {
    expect(made({}, { bearer: false }).headers.has('authorization')).toBe(false);
  });

  it('names the tenant where one is given', () => {
    const request = httpRequest(operation, { thing: 'a', part: 'b' }, { ...context, tenant: 'acme' });
    expect(request.headers.get('x-tenant-id')).toBe('acme');
  });

  it.each(['', '.', '..', undefined, null])('refuses %j in a path, which would be another resource', (thing) => {
    expect(() => made({ thing })).toThrow(TypeError);
  });
});

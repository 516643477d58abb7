import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPathIndex } from './path-index.ts';

const index = createPathIndex(
  [
    'GET /health',
    'GET /v1/workflows',
    'POST /v1/workflows/register',
    'GET /v1/workflows/{workflow}',
    'DELETE /v1/workflows/{workflow}',
    'GET /v1/workflows/{workflow}/versions',
    'GET /v1/workflows/executions',
    'POST /v1/workflows/executions',
    'GET /v1/workflows/executions/{execution_id}',
    'GET /v1/workflows/executions/{execution_id}/stream',
    'POST /v1/rooms/{room}/bookings/{booking}',
  ].map((value) => {
    const [method = '', path = ''] = value.split(' ');
    return { method: method.toLowerCase(), path, value };
  }),
);

const at = (path: string) => {
  const found = index.find(path);
  return found === undefined ? undefined : { methods: [...found.byMethod.keys()].toSorted(), params: found.params };
};

describe('a path', () => {
  it.each([
    ['/health', ['GET'], {}],
    ['/v1/workflows', ['GET'], {}],
    ['/v1/workflows/hello', ['DELETE', 'GET'], { workflow: 'hello' }],
    ['/v1/workflows/hello/versions', ['GET'], { workflow: 'hello' }],
    ['/v1/workflows/executions/a1/stream', ['GET'], { execution_id: 'a1' }],
    ['/v1/rooms/blue/bookings/7', ['POST'], { room: 'blue', booking: '7' }],
  ])('%s leads to its entry', (path, methods, params) => {
    expect(at(path)).toEqual({ methods, params });
  });

  it('that is written out means itself, whatever the method', () => {
    expect(at('/v1/workflows/register')).toEqual({ methods: ['POST'], params: {} });
    expect(at('/v1/workflows/executions')).toEqual({ methods: ['GET', 'POST'], params: {} });
  });

  it('falls back to a parameter where what is written out leads nowhere', () => {
    expect(at('/v1/workflows/register/versions')).toEqual({ methods: ['GET'], params: { workflow: 'register' } });
    expect(at('/v1/workflows/executions/versions')).toEqual({ methods: ['GET'], params: { execution_id: 'versions' } });
  });

  it.each([
    '',
    '/',
    'health',
    '*',
    '/HEALTH',
    '/health/',
    '//health',
    '/health/x',
    '/v1',
    '/v1/',
    '/v1/workflows/',
    '/v1/workflows//versions',
    '/v1/workflows/hello/versions/',
    '/v1/rooms/blue/bookings',
    '/v1/rooms//bookings/7',
    '/v1/__proto__',
    '/constructor',
  ])('%j leads nowhere', (path) => {
    expect(at(path)).toBeUndefined();
  });

  it('gives back any text that was percent-encoded into it, slashes and prototype names included', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (name) => {
        fc.pre(name.isWellFormed() && name !== 'register' && name !== 'executions');
        expect(at(`/v1/workflows/${encodeURIComponent(name)}`)?.params).toEqual({ workflow: name });
      }),
    );
    expect(at('/v1/workflows/a%2Fb')?.params).toEqual({ workflow: 'a/b' });
    expect(at('/v1/workflows/__proto__')?.params).toEqual({ workflow: '__proto__' });
  });

  it('cannot have two names for one parameter', () => {
    const entries = ['/a/{x}', '/a/{y}/b'].map((path) => ({ method: 'get', path, value: path }));
    expect(() => createPathIndex(entries)).toThrow('{y} has the place of {x}');
  });
});

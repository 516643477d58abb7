import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { oneOf } from '../../crds/schema/parts.ts';
import { HttpError } from './http-error.ts';
import { readQuery } from './read-query.ts';

const schema = Type.Object({
  limit: Type.Integer({ default: 50 }),
  full: Type.Optional(Type.Boolean()),
  scope: Type.Optional(oneOf(['user', 'tenant'])),
  q: Type.Optional(Type.String()),
  tag: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
});

function refusal(query: string): unknown {
  try {
    return readQuery(query, schema);
  } catch (error) {
    return error instanceof HttpError ? (error.options.details ?? error.options.message) : error;
  }
}

describe('query parameters', () => {
  it.each([
    ['', { limit: 50 }],
    ['limit=7&full=true', { limit: 7, full: true }],
    ['full=false&scope=tenant', { limit: 50, full: false, scope: 'tenant' }],
    ['q=a%20b+c%26%C3%BC', { limit: 50, q: 'a b c&ü' }],
    ['q=', { limit: 50, q: '' }],
    ['q', { limit: 50, q: '' }],
    ['q=a=b', { limit: 50, q: 'a=b' }],
    ['limit=-3', { limit: -3 }],
    ['tag=a', { limit: 50, tag: ['a'] }],
    ['tag=a&tag=b&tag=a', { limit: 50, tag: ['a', 'b', 'a'] }],
  ])('%j is read as %j', (query, want) => {
    expect(readQuery(query, schema)).toEqual(want);
  });

  it.each([
    ['limit=seven', { limit: 'seven' }],
    ['limit=7.5', { limit: '7.5' }],
    ['limit=', { limit: '' }],
    ['limit=0x10', { limit: '0x10' }],
    ['limit=1e3', { limit: '1e3' }],
    ['limit=12345678901234567890', { limit: '12345678901234567890' }],
    ['full=TRUE', { limit: 50, full: 'TRUE' }],
    ['full=1', { limit: 50, full: '1' }],
  ])('%j stays text, for the schema to refuse', (query, want) => {
    expect(readQuery(query, schema)).toEqual(want);
  });

  it.each([
    ['lmit=1', [{ path: 'query.lmit', message: 'unknown parameter; there are limit, full, scope, q, tag' }]],
    ['q=1&q=1', [{ path: 'query.q', message: 'is given twice' }]],
    ['__proto__=1', [{ path: 'query.__proto__', message: expect.stringContaining('unknown') }]],
    ['constructor=1&toString=2', [expect.anything(), expect.anything()]],
    ['a=1&b=2', [expect.anything(), expect.anything()]],
    ['&', [expect.anything(), expect.anything()]],
  ])('%j is refused, each parameter by name', (query, want) => {
    expect(refusal(query)).toEqual(want);
  });

  it.each([
    ['lmit=1', 'query.lmit unknown parameter; there are limit, full, scope, q, tag'],
    ['q=1&q=1&x=2', 'query.q is given twice'],
  ])('%j is refused by a message that names the first: %s', (query, message) => {
    expect(() => readQuery(query, schema)).toThrow(expect.objectContaining({ message }) as Error);
  });

  it.each(['q=%', 'q=%zz', 'q=%ff', '%C3=1', 'q=%ED%A0%80'])('%j is no percent-encoded UTF-8', (query) => {
    expect(refusal(query)).toBe('the query is not percent-encoded UTF-8');
  });
});

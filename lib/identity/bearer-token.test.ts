import { describe, expect, it } from 'vitest';
import { bearerToken } from './bearer-token.ts';

describe('the bearer token of a header', () => {
  it.each([
    ['Bearer abc.def.ghi', 'abc.def.ghi'],
    ['bearer abc', 'abc'],
    ['BEARER   abc', 'abc'],
    ['Bearer a-._~+/b==', 'a-._~+/b=='],
  ])('ORCH-AUTH-01 %j holds %s', (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });

  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['no token', 'Bearer'],
    ['a space in place of the token', 'Bearer '],
    ['another scheme', 'Basic YW5uYTpzZWNyZXQ='],
    ['no scheme', 'abc.def.ghi'],
    ['a scheme that only begins so', 'Bearers abc'],
    ['a second word', 'Bearer abc def'],
    ['two headers that a proxy joined', 'Bearer abc, Bearer def'],
    ['a quoted token', 'Bearer "abc"'],
    ['a character that no token has', 'Bearer abc\u00e9'],
    ['a tab', 'Bearer\tabc'],
  ])('AMB-024 %s is no token', (_, header) => {
    expect(() => bearerToken(header)).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
  });
});

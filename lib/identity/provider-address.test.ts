import { describe, expect, it } from 'vitest';
import { parseProviderAddress } from './provider-address.ts';

describe('the address of a provider', () => {
  it.each([
    'https://id.example.com',
    'https://id.example.com/realms/acme/',
    'https://10.0.0.1:8443',
    'https://localhost',
  ])('AMB-151 %s is accepted', (text) => {
    expect(parseProviderAddress(text, false).href).toContain(text);
  });

  it.each(['http://localhost:8080', 'http://127.0.0.1:9', 'http://127.1.2.3', 'http://[::1]:80'])(
    'AMB-151 %s is accepted where http is allowed, and only there',
    (text) => {
      expect(parseProviderAddress(text, true).protocol).toBe('http:');
      expect(() => parseProviderAddress(text, false)).toThrow('unless OIDC_ALLOW_HTTP=true');
    },
  );

  it.each([
    ['http://id.example.com', 'loopback addresses only'],
    ['http://localhost.example.com', 'loopback addresses only'],
    ['http://127.0.0.1.example.com', 'loopback addresses only'],
    ['http://10.0.0.1', 'loopback addresses only'],
    ['ftp://id.example.com', 'must begin with https://'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['https://anna:secret@id.example.com', 'user or password'],
    ['https://id.example.com/?realm=a', 'query or fragment'],
    ['https://id.example.com/#a', 'query or fragment'],
    ['id.example.com', 'must be a URL'],
    ['', 'must be a URL'],
  ])('AMB-151 %j is refused, http allowed or not', (text, message) => {
    for (const allowHttp of [true, false]) expect(() => parseProviderAddress(text, allowHttp)).toThrow(message);
  });
});

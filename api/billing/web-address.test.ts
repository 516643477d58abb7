import { describe, expect, it } from 'vitest';
import { addressProblem, longestAddress } from './web-address.ts';

const ofLength = (length: number): string => 'https://example.com/'.padEnd(length, 'a');

describe('BILL-13 an address that a browser is sent to', () => {
  it.each([
    'https://example.com',
    'https://example.com:8443/settings?tab=billing#invoices',
    'https://example.com/?session={CHECKOUT_SESSION_ID}',
    'http://localhost:3000/',
    'http://127.0.0.1/',
    'http://[::1]:8080/',
    ofLength(longestAddress - 1),
    ofLength(longestAddress),
  ])('may be %.80s', (text) => {
    expect(addressProblem(text)).toBeUndefined();
  });

  it.each([
    '',
    'example.com',
    '/settings',
    '//example.com/settings',
    'http://example.com/',
    'http://localhost.example.com/',
    'http://127.0.0.1.example.com/',
    'javascript:alert(1)',
    'data:text/html,hello',
    'file:///etc/passwd',
    'ftp://example.com/',
    'https://',
    'https://user@example.com/',
    'https://user:password@example.com/',
    ofLength(longestAddress + 1),
  ])('must not be "%.80s"', (text) => {
    expect(addressProblem(text)).toMatch(/^must /);
  });

  it('may be limited to origins', () => {
    const origins = ['https://app.example.com', 'http://localhost:3000'];
    expect(addressProblem('https://app.example.com/billing', origins)).toBeUndefined();
    expect(addressProblem('http://localhost:3000', origins)).toBeUndefined();
    for (const other of ['https://app.example.com:444/', 'https://example.com/', 'https://app.example.com.evil.com/']) {
      expect(addressProblem(other, origins)).toContain('must begin with one of');
    }
  });
});

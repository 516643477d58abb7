import { describe, expect, it } from 'vitest';
import { isLoopback } from './loopback.ts';

describe('an address of this very machine', () => {
  it.each([
    'http://localhost',
    'http://LOCALHOST:8080/path',
    'http://127.0.0.0',
    'http://127.0.0.1:8080',
    'http://127.255.255.255',
    'http://127.1',
    'http://2130706433',
    'http://[::1]:8080',
    'http://[0:0:0:0:0:0:0:1]',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:7fff:ffff]',
  ])('AMB-151 is %s', (text) => {
    expect(isLoopback(new URL(text))).toBe(true);
  });

  it.each([
    'http://126.255.255.255',
    'http://128.0.0.0',
    'http://0.0.0.0',
    'http://[::]',
    'http://[::2]',
    'http://[::ffff:126.255.255.255]',
    'http://[::ffff:128.0.0.0]',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://example.com',
    'mailto:ada@localhost',
    'file:///etc/passwd',
  ])('AMB-151 is not %s', (text) => {
    expect(isLoopback(new URL(text))).toBe(false);
  });
});
